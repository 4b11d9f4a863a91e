#pragma once

#include "link.hpp"
#include "packed_block.hpp"
#include "path_selector.hpp"

#include <mpi.h>

namespace selvage::detail {

/// Packs, calls MPI_Isend and MPI_Irecv, and unpacks. One message per neighbour and run of consecutive fields.
///
/// MPI itself guards ghosts and buffers: the receiver unpacks a message only when it waits for it, and no other rank writes to its
/// ghosts.
class MpiMessages final : public Link {
 public:
  MpiMessages(const MessageParts& parts, std::vector<PackedPeer> peers);
  ~MpiMessages() override;

  void start(const Step& step) override;
  bool progress(const Step& step) override;
  void append_contributions(std::size_t field, std::vector<Contribution>& contributions) const override;
  [[nodiscard]] std::string describe_late(const Step& step) const override;

 private:
  struct Message {
    std::size_t peer;
    std::int64_t begin;
    std::int64_t bytes;
  };
  /// The messages of one step in one direction; `for_each(first_field, begin, bytes)`.
  template <class Function>
  static void for_each_run(const Step& step, const PackedBlock& block, const Function& function);
  void post_receives(const Step& step);
  void pack(const Step& step);
  void pack_and_send(const Step& step);
  void receive_some(const Step& step);
  void require_whole(const Step& step, const Message& message, const MPI_Status& status, bool failed) const;
  void deliver(const Step& step, const Message& message);

  MPI_Comm comm_;
  int first_tag_;
  Initiation initiation_;
  std::vector<PackedPeer> peers_;

  std::vector<MPI_Request> sends_;
  std::vector<int> send_ranks_;
  std::vector<MPI_Request> receives_;
  std::vector<Message> expected_;  ///< beside receives_
  std::vector<int> indices_;       ///< of MPI_Testsome
  std::vector<MPI_Status> statuses_;
  std::uint64_t completed_epoch_ = 0;
};

/// Why MPI can't be started so: only the host calls it, after a fence where kernels run on a GPU, or a proxy that has a thread.
[[nodiscard]] std::string refuse_mpi_initiation(Initiation initiation, const PairFacts& facts, bool on_host);

}  // namespace selvage::detail
