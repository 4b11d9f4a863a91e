#include "links/path_selector.hpp"

#include "datatypes/transfer_choice.hpp"
#include "links/registry.hpp"

#include <selvage/error.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>

namespace selvage::detail {
namespace {

Path select(const PairFacts& facts, const Forced<Transport>& transport, const Forced<Initiation>& initiation,
            bool on_host) {
  return select_path(halo_transports(), "halos", facts, transport, initiation, on_host);
}

PairFacts best_facts() {
  PairFacts facts;
  facts.rank = 3;
  facts.same_host = true;
  return facts;
}

PairFacts unshared() {
  PairFacts facts = best_facts();
  facts.unshared_field = "View \"u\" of rank 3 is not in shared memory";
  return facts;
}

PairFacts on_device() {
  PairFacts facts = best_facts();
  facts.device_memory = true;
  facts.gpu_aware_refusal = "this MPI takes no device pointers";
  return facts;
}

Path chosen(const PairFacts& facts) {
  return select(facts, {}, {}, true);
}

std::string refusal(const PairFacts& facts, Transport forced, const std::string& forced_by) {
  try {
    static_cast<void>(select(facts, {forced, forced_by}, {}, true));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    return error.message();
  }
  return "none";
}

TEST(PathSelector, PrefersPeerWhereNothingSpeaksAgainstIt) {
  EXPECT_EQ(chosen(best_facts()).transport, Transport::peer);
  EXPECT_EQ(chosen(best_facts()).why, "same host, all Views in shared memory");
}

TEST(PathSelector, SaysWhichViewKeepsItFromPeer) {
  const Path path = chosen(unshared());
  EXPECT_EQ(path.transport, Transport::mpi_direct);
  EXPECT_EQ(
      path.why,
      "MPI takes the packed memory as it is; not peer: View \"u\" of rank 3 is not in shared memory; not "
      "copy_engine: copy engines belong to GPUs");
}

TEST(PathSelector, TakesMpiToOtherHostsAndSaysSo) {
  PairFacts facts = best_facts();
  facts.same_host = false;
  EXPECT_EQ(chosen(facts).transport, Transport::mpi_direct);
  EXPECT_EQ(chosen(facts).why,
            "MPI takes the packed memory as it is; not peer: the rank is on another host; not copy_engine: "
            "copy engines belong to GPUs");
}

TEST(PathSelector, PassesOnWhyMemoryCannotBeMapped) {
  PairFacts facts = best_facts();
  facts.mapping_refusal = "cannot open another rank's shared memory: Permission denied";
  EXPECT_EQ(chosen(facts).transport, Transport::mpi_direct);
  EXPECT_NE(chosen(facts).why.find("not peer: cannot open another rank's shared memory: Permission denied"),
            std::string::npos);
}

TEST(PathSelector, PutsBetweenGpusThatMapEachOthersMemory) {
  EXPECT_EQ(chosen(on_device()).transport, Transport::peer);
}

TEST(PathSelector, StagesDeviceMemoryOfOtherHostsUnlessMpiTakesItAsItIs) {
  PairFacts facts = on_device();
  facts.same_host = false;
  const Path staged = select(facts, {}, {}, false);
  EXPECT_EQ(staged.transport, Transport::mpi_staged);
  EXPECT_EQ(staged.initiation, Initiation::host);
  EXPECT_EQ(staged.why,
            "works everywhere; not peer: the rank is on another host; not copy_engine: the rank is on "
            "another host; "
            "not mpi_direct: this MPI takes no device pointers; not stream: MPI can only be called from the "
            "host, after a fence");
  facts.gpu_aware_refusal.clear();
  EXPECT_EQ(chosen(facts).transport, Transport::mpi_direct);
}

TEST(PathSelector, RefusesPeerForViewsInHostAndGpuMemory) {
  PairFacts facts = on_device();
  facts.host_memory = true;
  EXPECT_EQ(chosen(facts).transport, Transport::mpi_staged);
  EXPECT_NE(chosen(facts).why.find("some Views are in host memory, some in GPU memory"), std::string::npos);
}

TEST(PathSelector, StartsFromTheStreamWhereTheTransportCan) {
  EXPECT_EQ(select(on_device(), {}, {}, false).initiation, Initiation::stream);
  EXPECT_EQ(chosen(best_facts()).initiation, Initiation::stream);
}

TEST(PathSelector, KeepsMpiFromMemoryThatKernelsWaitFor) {
  PairFacts facts = on_device();
  facts.gpu_aware_refusal.clear();
  facts.waiting_kernels_refusal = "MPI may wait for kernels";
  const auto path = [&](Initiation initiation) {
    return select(facts, {Transport::mpi_direct, "a test"}, {initiation, "a test"}, false);
  };
  EXPECT_EQ(path(Initiation::host).transport, Transport::mpi_direct);
  for (const Initiation initiation : {Initiation::queue, Initiation::kernel}) {
    try {
      static_cast<void>(path(initiation));
      ADD_FAILURE() << to_string(initiation);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unsupported);
      EXPECT_NE(error.message().find("over mpi_direct: MPI may wait for kernels"), std::string::npos);
    }
  }
}

TEST(PathSelector, RefusesAForcedInitiationWithForcerAndReason) {
  PairFacts facts = on_device();
  facts.same_host = false;
  try {
    static_cast<void>(select(facts, {}, {Initiation::stream, "SELVAGE_INITIATION"}, false));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(),
              "initiation stream, forced by SELVAGE_INITIATION, is not possible for halos with rank 3; not "
              "peer: the rank is on "
              "another host; not copy_engine: the rank is on another host; not mpi_direct: this MPI takes no "
              "device pointers; not "
              "mpi_staged: MPI can only be called from the host, after a fence");
  }
}

TEST(PathSelector, PassesOverTransportsThatRefuseAForcedInitiation) {
  PairFacts facts = on_device();
  facts.same_host = false;
  facts.gpu_aware_refusal.clear();
  facts.waiting_kernels_refusal = "MPI may wait for kernels";
  EXPECT_EQ(select(facts, {}, {Initiation::host, "a test"}, true).transport, Transport::mpi_direct);
  const Path path = select(facts, {}, {Initiation::queue, "a test"}, true);
  EXPECT_EQ(path.transport, Transport::mpi_staged);
  EXPECT_EQ(path.initiation, Initiation::queue);
  EXPECT_NE(path.why.find("; not mpi_direct: MPI may wait for kernels; initiation queue forced by a test"),
            std::string::npos)
      << path.why;
}

TEST(PathSelector, DoesNotAskAnMpiForDevicePointersThatThereAreNot) {
  PairFacts facts = unshared();
  facts.gpu_aware_refusal = "this MPI takes no device pointers";
  EXPECT_EQ(chosen(facts).transport, Transport::mpi_direct);
}

TEST(PathSelector, ObeysAForcedTransportAndSaysWhoForcedIt) {
  for (const Transport transport : {Transport::peer, Transport::mpi_direct, Transport::mpi_staged}) {
    const Path path = select(best_facts(), {transport, "SELVAGE_TRANSPORT"}, {}, true);
    EXPECT_EQ(path.transport, transport);
    EXPECT_EQ(path.why, "forced by SELVAGE_TRANSPORT");
  }
}

TEST(PathSelector, TakesTheCopyEnginesWhereTheyAreAskedFor) {
  const Path path = select(on_device(), {Transport::copy_engine, "SELVAGE_TRANSPORT"}, {}, false);
  EXPECT_EQ(path.transport, Transport::copy_engine);
  EXPECT_EQ(path.initiation, Initiation::stream);
}

TEST(PathSelector, RefusesAForcedTransportWithForcerRankAndReason) {
  EXPECT_EQ(
      refusal(unshared(), Transport::peer, "the option transport"),
      "transport peer, forced by the option transport, is not possible with rank 3: View \"u\" of rank 3 "
      "is not in shared memory");
  EXPECT_EQ(
      refusal(on_device(), Transport::mpi_direct, "SELVAGE_TRANSPORT"),
      "transport mpi_direct, forced by SELVAGE_TRANSPORT, is not possible with rank 3: this MPI takes no "
      "device pointers");
  EXPECT_EQ(refusal(best_facts(), Transport::ring, "SELVAGE_TRANSPORT"),
            "transport ring, forced by SELVAGE_TRANSPORT, carries no halos");
  PairFacts remote = best_facts();
  remote.same_host = false;
  EXPECT_EQ(
      refusal(remote, Transport::peer, "SELVAGE_TRANSPORT"),
      "transport peer, forced by SELVAGE_TRANSPORT, is not possible with rank 3: the rank is on another "
      "host");
}

TEST(PathSelector, AlwaysHasAWayLeft) {
  PairFacts worst = on_device();
  worst.same_host = false;
  worst.mapping_refusal = "no";
  worst.unshared_field = "none";
  EXPECT_EQ(chosen(worst).transport, Transport::mpi_staged);
}

/// Of a typed transfer between GPUs that map nothing of each other.
Transport of_bytes(std::int64_t bytes, bool same_host = true) {
  PairFacts facts = on_device();
  facts.same_host = same_host;
  facts.unshared_field = "View \"u\" of rank 3 is not in shared memory";
  facts.bytes = bytes;
  return choose_transfer_path(facts, {}, false).transport;
}

TEST(TransferChoice, TakesARingBetweenGpusForWhatIsLarge) {
  EXPECT_EQ(of_bytes(128 * 1024 - 1), Transport::mpi_staged);
  EXPECT_EQ(of_bytes(128 * 1024), Transport::ring);
  EXPECT_EQ(of_bytes(128 * 1024, false), Transport::mpi_staged);
  PairFacts aware = on_device();
  aware.gpu_aware_refusal.clear();
  aware.bytes = 128 * 1024;
  aware.unshared_field = "View \"u\" of rank 3 is not in shared memory";
  EXPECT_EQ(choose_transfer_path(aware, {}, false).transport, Transport::mpi_direct);
}

TEST(Registry, HoldsEveryTransportOnce) {
  std::set<Transport> seen;
  for (const LinkCandidate& candidate : halo_transports())
    EXPECT_TRUE(seen.insert(candidate.transport).second);
  EXPECT_EQ(seen, (std::set{Transport::peer, Transport::copy_engine, Transport::mpi_direct,
                            Transport::mpi_staged}));
}

}  // namespace
}  // namespace selvage::detail
