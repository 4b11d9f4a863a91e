#pragma once

#include "placement/random.hpp"

#include <selvage/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace selvage::topo {

/// Changes, removes, doubles or inserts some bytes of a text, the same ones for the same seed.
inline std::string mutated(std::string_view text, std::uint64_t seed) {
  static constexpr std::string_view alphabet = "0123456789,-x=[]{}\":\n \\#\xff\0aN.e";
  Random random(seed);
  std::string out(text);
  const std::uint64_t changes = 1 + random.below(4);
  for (std::uint64_t i = 0; i < changes && !out.empty(); ++i) {
    const std::size_t at = random.below(out.size());
    const char other = alphabet[random.below(alphabet.size())];
    switch (random.below(5)) {
      case 0:
        out[at] = other;
        break;
      case 1:
        out.erase(at, 1 + random.below(8));
        break;
      case 2:
        out.insert(at, 1, other);
        break;
      case 3:
        out.insert(at, out.substr(at, 1 + random.below(16)));
        break;
      default:
        out.resize(at);
    }
  }
  return out;
}

/// Feeds mutations of a text to a parser, which may accept or throw Error{input}, and nothing else.
template <typename Parse>
void expect_only_input_errors(std::string_view text, const Parse& parse, int rounds = 3000) {
  for (int round = 0; round < rounds; ++round) {
    const std::string input = mutated(text, static_cast<std::uint64_t>(round));
    try {
      parse(input);
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::input) << error.what() << " for:\n" << input;
    } catch (const std::exception& error) {
      FAIL() << "not an Error but " << error.what() << " for:\n" << input;
    }
  }
}

/// The message of the Error{input} that `call` throws.
template <typename Call>
std::string input_error(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
    return error.message();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace selvage::topo
