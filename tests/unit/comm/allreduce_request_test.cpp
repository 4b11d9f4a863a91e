#include "runtime/allreduce_request.hpp"

#include <selvage/error.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace selvage::detail {
namespace {

using Algorithm = AllreduceAlgorithm;

AllreduceOptions forced(std::string_view text) {
  AllreduceOptions options;
  parse_forced_allreduce(text, options);
  return options;
}

template <class Function>
std::string message_of(ErrorKind kind, const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.kind()), to_string(kind));
    return error.message();
  }
  return "nothing was thrown";
}

TEST(AllreduceRequest, ReadsAnAlgorithmWithWhatItIsMadeOf) {
  EXPECT_EQ(forced("ring").algorithm, Algorithm::ring);
  EXPECT_EQ(forced("hierarchical").inner, std::nullopt);
  const AllreduceOptions levels = forced("hierarchical:binomial_tree,recursive_doubling");
  EXPECT_EQ(levels.algorithm, Algorithm::hierarchical);
  EXPECT_EQ(levels.inner, Algorithm::binomial_tree);
  EXPECT_EQ(levels.outer, Algorithm::recursive_doubling);
  const AllreduceOptions groups = forced("pipelined:3");
  EXPECT_EQ(groups.algorithm, Algorithm::pipelined);
  EXPECT_EQ(groups.group_size, 3);
}

TEST(AllreduceRequest, SaysWhatItHasRead) {
  for (const char* form :
       {"ring", "hierarchical", "hierarchical:binomial_tree,mpi", "pipelined", "pipelined:4"}) {
    const AllreduceOptions options = forced(form);
    EXPECT_EQ(form_of(*options.algorithm, options), form);
  }
}

TEST(AllreduceRequest, LeavesNoLevelOpen) {
  const AllreduceOptions outer =
      read_allreduce_request({.algorithm = Algorithm::hierarchical, .outer = Algorithm::ring}).options;
  EXPECT_EQ(outer.inner, Algorithm::shared_buffer_tree);
  const AllreduceOptions inner =
      read_allreduce_request({.algorithm = Algorithm::hierarchical, .inner = Algorithm::binomial_tree})
          .options;
  EXPECT_EQ(inner.outer, Algorithm::binomial_tree);
  EXPECT_EQ(read_allreduce_request({.algorithm = Algorithm::hierarchical}).options.inner, std::nullopt);
  const AllreduceOptions on_gpus =
      read_allreduce_request({.algorithm = Algorithm::hierarchical, .outer = Algorithm::nccl},
                             CollectiveKind::allreduce, false)
          .options;
  EXPECT_EQ(on_gpus.inner, Algorithm::two_shot);
}

TEST(AllreduceRequest, ReadsTheSizeOfGroupsThatCombineByTwoShot) {
  const std::string text = "hierarchical:two_shot,two_shot:2";
  const AllreduceOptions options = forced(text);
  EXPECT_EQ(options.outer, Algorithm::two_shot);
  EXPECT_EQ(options.group_size, 2);
  EXPECT_EQ(form_of(Algorithm::hierarchical, options), text);
  setenv("SELVAGE_ALLREDUCE", "hierarchical:two_shot,ring:2", 1);
  EXPECT_NE(message_of(ErrorKind::input, [] { (void)read_allreduce_request({}); }).find("group_size"),
            std::string::npos);
  unsetenv("SELVAGE_ALLREDUCE");
}

TEST(AllreduceRequest, SaysWhatItCannotRead) {
  for (const char* text :
       {"hierarchical:shared_buffer_tree", "ring:2", "mpi:shared_buffer_tree,binomial_tree"}) {
    EXPECT_NE(message_of(ErrorKind::input, [&] { forced(text); }).find("hierarchical:INNER,OUTER"),
              std::string::npos)
        << text;
  }
  EXPECT_NE(message_of(ErrorKind::input, [] { forced("hierarchical:shared_buffer_tree,telepathy"); })
                .find("telepathy"),
            std::string::npos);
  for (const char* text : {"pipelined:", "pipelined:0", "pipelined:-1", "pipelined:2x"}) {
    EXPECT_NE(message_of(ErrorKind::input, [&] { forced(text); }).find("is no group size"), std::string::npos)
        << text;
  }
}

TEST(AllreduceRequest, NamesTheVariableThatItCannotRead) {
  for (const char* text :
       {"rign", "pipelined:0", "hierarchical:shared_buffer_tree", "hierarchical:ring,shared_buffer_tree"}) {
    setenv("SELVAGE_ALLREDUCE", text, 1);
    const std::string message = message_of(ErrorKind::input, [] { (void)read_allreduce_request({}); });
    EXPECT_EQ(message.find("SELVAGE_ALLREDUCE=" + std::string(text) + ": "), 0U) << message;
  }
  unsetenv("SELVAGE_ALLREDUCE");
}

TEST(AllreduceRequest, RefusesOptionsThatDontGoTogether) {
  const auto message = [](const AllreduceOptions& options) {
    return message_of(ErrorKind::usage, [&] { static_cast<void>(read_allreduce_request(options)); });
  };
  EXPECT_EQ(message({.algorithm = Algorithm::ring, .inner = Algorithm::shared_buffer_tree}),
            "the options inner and outer of an Allreduce are for hierarchical and pipelined");
  EXPECT_EQ(message({.outer = Algorithm::shared_buffer_tree}),
            "the options inner and outer of an Allreduce are for hierarchical and pipelined");
  EXPECT_EQ(
      message({.algorithm = Algorithm::hierarchical, .group_size = 2}),
      "the option group_size of an Allreduce is for pipelined, and for hierarchical with two_shot as outer");
  EXPECT_EQ(message({.algorithm = Algorithm::pipelined, .group_size = -2}),
            "the group_size -2 of an Allreduce is negative");
  EXPECT_EQ(message({.algorithm = Algorithm::hierarchical, .inner = Algorithm::ring}),
            "ring can't be the inner algorithm of an Allreduce: there are shared_buffer_tree, binomial_tree, "
            "two_shot");
  EXPECT_EQ(message({.algorithm = Algorithm::hierarchical, .outer = Algorithm::one_shot}),
            "one_shot can't be the outer algorithm of an Allreduce: there are shared_buffer_tree, "
            "binomial_tree, recursive_doubling, "
            "ring, mpi, nccl, two_shot");
}

}  // namespace
}  // namespace selvage::detail
