#include "delays.hpp"
#include "rounds.hpp"
#include "transfer_forms.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace selvage::test {
namespace {

/// The byte of the sender that each byte of a receiver shows; -1 where it shows none. By MPI, which packs and unpacks the bytes'
/// numbers, the lower and then the upper half of each.
std::vector<std::int64_t> sources_of(const Matching& types, std::size_t sent, std::size_t received) {
  std::vector<std::int64_t> sources(received, -1);
  std::vector<unsigned char> from(sent);
  std::vector<unsigned char> is_written(received, 0);
  std::ranges::fill(from, 1);
  move_by_mpi(types, from.data(), is_written.data());
  std::vector<unsigned char> lower(received);
  for (std::size_t i = 0; i < sent; ++i) from[i] = static_cast<unsigned char>(i % 256);
  move_by_mpi(types, from.data(), lower.data());
  std::vector<unsigned char> upper(received);
  for (std::size_t i = 0; i < sent; ++i) from[i] = static_cast<unsigned char>(i / 256);
  move_by_mpi(types, from.data(), upper.data());
  for (std::size_t i = 0; i < received; ++i)
    if (is_written[i] == 1) sources[i] = upper[i] * 256 + lower[i];
  return sources;
}

/// Layouts of some kilobytes: many units of short rings, many boxes.
Matching make_large_matching(unsigned seed) {
  for (;; ++seed) {
    const Matching types = make_matching(seed);
    if (types.from.ours.size() > 2000 && types.to.ours.true_upper_bound() < 20'000) return types;
  }
}

/// One way around the ring: a layout, its memory and its transfer.
class Way {
 public:
  Way(const Context& context, unsigned seed, std::pair<int, int> partners, const TransferForm& form)
      : types_(make_large_matching(seed)),
        source_(partners.first),
        from_(context, types_.from.ours.true_upper_bound(), form.is_shared),
        to_(context, types_.to.ours.true_upper_bound(), form.is_shared),
        sources_(sources_of(types_, from_.size(), to_.size())),
        transfer_(Space(), context, {transfer_end(partners.second, from_.view(), types_.from.ours)},
                  {transfer_end(partners.first, to_.view(), types_.to.ours)}, form.options()) {
    to_.poison();
  }

  void fill(int round, int rank) const { from_.fill(round, rank); }
  void start() { transfer_.start(Space()); }
  void finish() { transfer_.finish(Space()); }
  /// Bytes that aren't what the sender had in this round, or aren't untouched.
  [[nodiscard]] int wrong(int round) const {
    const std::vector<unsigned char> seen = to_.read();
    int count = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const unsigned char expected = sources_[i] < 0 ? poison : Bytes::value(sources_[i], round, source_);
      count += seen[i] == expected ? 0 : 1;
    }
    return count;
  }

 private:
  static constexpr unsigned char poison = 0xee;
  Matching types_;
  int source_;
  Bytes from_;
  Bytes to_;
  std::vector<std::int64_t> sources_;
  TypedTransfer transfer_;
};

class TransferStress : public TransferForms {
 protected:
  /// Both ways around the ring at a time, of different layouts; neither is ordered with the other, nor are rounds but by the
  /// transfers themselves.
  int run(int rounds) {
    Delays delays(rank(), 1024);
    Way there(context_, 7, {before(), after()}, GetParam());
    Way back(context_, 12, {after(), before()}, GetParam());
    int wrong = 0;
    for (int round = 0; round < rounds; ++round) {
      there.fill(round, rank());
      delays.maybe();
      there.start();
      back.fill(round + 1, rank());
      delays.maybe();
      back.start();
      delays.maybe();
      Way& first = round % 2 == 0 ? there : back;
      Way& second = round % 2 == 0 ? back : there;
      first.finish();
      delays.maybe();
      second.finish();
      Space().fence();
      wrong += there.wrong(round) + back.wrong(round + 1);
    }
    return wrong;
  }
};

TEST_P(TransferStress, KeepsElementsExactInBothWaysOfARing) {
  // What service threads carry takes far longer where they share cores with ranks.
  const int most = GetParam().initiation == Initiation::queue ? 1000 : 20'000;
  EXPECT_EQ(on_all_ranks(run(stress_rounds(most))), 0);
}

INSTANTIATE_TEST_SUITE_P(EveryPath, TransferStress,
                         testing::ValuesIn(cases_where(every_transfer_form, can_run)), name_of);

TEST(TransferStressForms, AreRefusedWhereTheyDontRun) {
  expect_other_transfers_refused();
}

}  // namespace
}  // namespace selvage::test
