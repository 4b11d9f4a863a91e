#pragma once

#include "kernel_lists.hpp"

#include <selvage/comm/detail/growing_buffer.hpp>
#include <selvage/comm/detail/list_program.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace selvage::detail {

/// What KernelListPaths have in common, whether peers or the proxy carry the particles: the table of links for kernels, the state that
/// kernels keep, and the errors that they report. Headers without particles, of rebuilds and failures, go by MPI.
class LaunchedLists : public KernelListPath {
 public:
  void connect_self(ListLink& self, Executor& executor) override;
  void look_at_state(Executor& executor) override;
  [[nodiscard]] std::uint64_t following_epoch() const override {
    // Replays of graphs may have advanced the epoch since the host read it last.
    return fault_ == nullptr ? 1 : state_.host<ListState>()->epoch + 1;
  }
  void take_lists(bool with_self, std::uint64_t epoch, Executor& executor) override;

  void start(const ListStep& step) override {
    if (!step.moves_particles()) return words_->start(step);
    has_put_ = has_taken_ = false;
    grow(step);
  }
  bool put(const ListStep& step) override {
    if (!step.moves_particles()) return words_->put(step);
    if (!has_put_) launch(step, ListLaunch::put, "comm::put");
    has_put_ = true;
    return true;
  }
  bool progress(const ListStep& step) override;
  void take(const ListStep& step) override { launch(step, ListLaunch::take, "comm::wait"); }
  void exchange(const ListStep& step) override { launch(step, ListLaunch::exchange, "comm::exchange"); }
  void check() const override;
  [[nodiscard]] std::string describe_late(const ListStep& step) const override {
    return step.moves_particles() ? std::string() : words_->describe_late(step);
  }

 protected:
  struct Peer {
    ListLink* link = nullptr;
    KernelListFlags* own = nullptr;
    KernelListFlags* remote = nullptr;  ///< null: the proxy carries the link
    std::byte* own_blocks = nullptr;
    std::byte* remote_blocks = nullptr;
    std::int64_t own_block_bytes = 0;
    std::int64_t remote_block_bytes = 0;
  };

  LaunchedLists(ContextState& context, int message_tag, bool on_host);

  /// Grows the blocks for what will be received, and for what will be sent if that is packed in memory of this rank.
  virtual void grow(const ListStep& step) = 0;
  [[nodiscard]] virtual ListPeer row_of(const Peer& peer) const;
  /// The arguments of kernels other than the table.
  virtual void complete(ListProgram&) const {}
  /// What a kernel waits for, in the message of a timeout, before the word "epoch".
  [[nodiscard]] virtual std::string_view awaited(ListFault::Kind kind) const = 0;
  /// The error that another rank has sent instead of particles.
  [[nodiscard]] virtual ListFailure failure_of(const Peer& peer, std::uint64_t epoch) const = 0;

  [[nodiscard]] bool is_self(const Peer& peer) const;
  [[nodiscard]] bool serves(const Peer& peer) const {
    return (with_self_ || !is_self(peer)) && (peer.link->in.count > 0 || peer.link->out.count > 0);
  }
  void grow_self(Peer& peer, std::int64_t bytes, Executor& executor);
  void read_epoch(Executor& executor);
  void upload(Executor& executor);
  /// Copies between the host and the memory of flags.
  void read(void* target, const void* source, std::size_t bytes) const;
  void write(void* target, const void* source, std::size_t bytes) const { read(target, source, bytes); }

  ContextState& context_;
  bool on_host_;
  std::unique_ptr<ListPath> words_;
  std::vector<Peer> peers_;     ///< of all ranks ever named, in any order
  std::vector<Buffer> memory_;  ///< flags and blocks of this rank, old blocks too
  ListFault* fault_ = nullptr;
  /// Of the last operation that the host has enqueued; replays of graphs may be ahead.
  std::uint64_t epoch_ = 0;

 private:
  void launch(const ListStep& step, ListLaunch launch, const char* region);
  [[nodiscard]] ListProgram program(const ListStep& step) const;

  std::vector<std::size_t> served_;  ///< of the peers, by rank: the rows of the table
  MirroredBuffer table_;
  std::vector<ListPeer> rows_;
  MirroredBuffer state_;
  Buffer fault_memory_;
  bool with_self_ = false;
  bool has_put_ = true;
  bool has_taken_ = true;
};

}  // namespace selvage::detail
