#pragma once

#include "job.hpp"
#include "random_types.hpp"
#include "space.hpp"
#include "thrown.hpp"
#include "transferred_bytes.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/typed_transfer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace selvage::test {

/// A pair of types that hold the same elements, the second of which a receiver may have.
struct Matching {
  TypePair from;
  TypePair to;
};

/// Every byte at most once.
inline bool is_injective(const TypePair& type) {
  const std::int64_t bytes = std::max<std::int64_t>(type.ours.true_upper_bound(), 1);
  std::vector<unsigned char> memory(bytes, 0);
  std::vector<unsigned char> ones(std::max<std::int64_t>(type.ours.size(), 1), 1);
  int position = 0;
  MPI_Unpack(ones.data(), static_cast<int>(type.ours.size()), &position, memory.data(), 1, *type.mpi,
             MPI_COMM_SELF);
  return std::accumulate(memory.begin(), memory.end(), std::int64_t{0}) == type.ours.size();
}

/// The same on every rank: random types of elements that are as long as their alignment, or not.
inline Matching make_matching(unsigned seed) {
  for (;; seed += 1000) {
    RandomTypes types(seed, 1 << seed % 4, true);
    const TypePair one = types.make(types.number(1, 3));
    const TypePair other = types.make(types.number(1, 3));
    const std::int64_t bytes = std::lcm(one.ours.size(), other.ours.size());
    if (bytes == 0 || bytes > 20'000) continue;
    const Matching pair{types.several(one, bytes / one.ours.size()),
                        types.several(other, bytes / other.ours.size())};
    if (pair.from.ours.true_lower_bound() < 0 || pair.to.ours.true_lower_bound() < 0) continue;
    if (is_injective(pair.to)) return pair;
  }
}

/// What MPI_Pack and MPI_Unpack write to `to` of the elements at `from`.
inline void move_by_mpi(const Matching& types, const unsigned char* from, unsigned char* to) {
  std::vector<unsigned char> packed(types.from.ours.size());
  const int bytes = static_cast<int>(packed.size());
  int position = 0;
  MPI_Pack(from, 1, *types.from.mpi, packed.data(), bytes, &position, MPI_COMM_SELF);
  position = 0;
  MPI_Unpack(packed.data(), bytes, &position, to, 1, *types.to.mpi, MPI_COMM_SELF);
}

/// A way that transfers can take.
struct TransferForm {
  std::string name;
  std::optional<Transport> transport;
  bool is_shared;
  std::size_t ring_unit_bytes = 0;
  std::optional<Initiation> initiation = {};

  [[nodiscard]] TypedTransfer::Options options() const {
    return {.transport = transport, .initiation = initiation, .ring_unit_bytes = ring_unit_bytes};
  }
};

/// Whether a form can reach all ranks of this job, by how its transport reaches them.
inline bool can_run(const TransferForm& form) {
  const bool needs_one = form.transport == Transport::peer || form.transport == Transport::ring;
  return !needs_one || this_job().is_on_one_host() || this_job().ranks() == 1;
}
/// Only what depends on the MPI may be refused then: few take GPU memory.
inline bool must_run(const TransferForm& form) {
  return can_run(form) && (on_host || form.transport != Transport::mpi_direct);
}

/// Collective: the error that the library refuses a form with.
inline std::optional<Error> refusal_of(const TransferForm& form, const Context& context) {
  const Bytes bytes(context, 16, form.is_shared);
  const Datatype element = Datatype::of<double>();
  const int after = (context.rank() + 1) % context.size();
  const int before = (context.rank() + context.size() - 1) % context.size();
  return thrown_by([&] {
    const TypedTransfer transfer(Space(), context, {transfer_end(after, bytes.view(), element)},
                                 {transfer_end(before, bytes.view(), element)}, form.options());
  });
}

inline const std::vector<TransferForm> every_transfer_form{
    {"chosen", {}, true},
    {"peer", Transport::peer, true},
    {"mpi_direct", Transport::mpi_direct, true},
    {"mpi_staged", Transport::mpi_staged, true},
    {"unshared_memory", {}, false},
    {"ring", Transport::ring, false},
    {"ring_of_short_units", Transport::ring, true, 100},
    {"peer_queue", Transport::peer, true, 0, Initiation::queue},
    {"mpi_direct_queue", Transport::mpi_direct, true, 0, Initiation::queue},
    {"mpi_staged_queue", Transport::mpi_staged, true, 0, Initiation::queue}};

/// Collective: as many forms as stated run, and the library refuses all others.
inline void expect_other_transfers_refused() {
  const Context context(MPI_COMM_WORLD);
  const LeastCases least{
      .on_one_host = 10, .on_several_hosts = 6, .on_gpus_of_one_host = 8, .on_gpus_of_several_hosts = 4};
  EXPECT_GE(cases_where(every_transfer_form, must_run).size(), least.here(!on_host));
  for (const TransferForm& form : every_transfer_form) {
    if (can_run(form)) continue;
    const auto error = refusal_of(form, context);
    EXPECT_EQ(error ? to_string(error->kind()) : "nothing was thrown", to_string(ErrorKind::unsupported))
        << form.name;
  }
}

inline std::string name_of(const testing::TestParamInfo<TransferForm>& tested) {
  return tested.param.name;
}

/// Ranks in a ring, and a form that they all take.
class TransferForms : public testing::TestWithParam<TransferForm> {
 protected:
  [[nodiscard]] int rank() const { return context_.rank(); }
  [[nodiscard]] int after() const { return (rank() + 1) % context_.size(); }
  [[nodiscard]] int before() const { return (rank() + context_.size() - 1) % context_.size(); }
  [[nodiscard]] static TypedTransfer::Options options() { return GetParam().options(); }

  void SetUp() override {
    if (must_run(GetParam())) return;
    if (const auto refusal = refusal_of(GetParam(), context_)) {
      ASSERT_EQ(to_string(refusal->kind()), to_string(ErrorKind::unsupported)) << refusal->message();
      GTEST_SKIP() << refusal->message();
    }
  }

  const Context context_{MPI_COMM_WORLD};
};

}  // namespace selvage::test
