// One process measures all pairs of its host's GPUs: no messages, no other process that could be late.
#include "machine/probe/gpu_probe.hpp"

#include "machine/probe/tournament.hpp"
#include "probe_kernels.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <span>

namespace selvage::topo {
namespace {

constexpr std::size_t most_bytes = std::size_t{256} << 20;
constexpr std::size_t bytes_per_measurement = std::size_t{1}
                                              << 30;  // that copies and stores back to back move
constexpr int most_repeats = 200;
constexpr int trips = 200;

void check(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  throw Error(ErrorKind::cuda, fmt::format("{} failed: {}", call, cudaGetErrorString(code)),
              static_cast<int>(code));
}

/// The calling thread's device, for a scope.
class UsedDevice {
 public:
  explicit UsedDevice(int device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    check(cudaSetDevice(device), "cudaSetDevice");
  }
  ~UsedDevice() { cudaSetDevice(before_); }
  UsedDevice(const UsedDevice&) = delete;
  UsedDevice& operator=(const UsedDevice&) = delete;

 private:
  int before_ = 0;
};

/// A GPU with what its measurements need.
class ProbingGpu {
 public:
  explicit ProbingGpu(int device) : device_(device) {
    const UsedDevice used(device);
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    multiprocessors_ = properties.multiProcessorCount;
    uuid_ = uuid_text(properties.uuid);
    char id[32] = {};
    check(cudaDeviceGetPCIBusId(id, sizeof id, device), "cudaDeviceGetPCIBusId");
    pci_bus_id_ = normalized_pci_bus_id(id);
    source_ = allocate<std::byte>(most_bytes);
    target_ = allocate<std::byte>(most_bytes);
    flag_ = allocate<std::uint64_t>(sizeof(std::uint64_t));
    gave_up_ = allocate<int>(sizeof(int));
    check(cudaMemset(source(), device + 1, most_bytes), "cudaMemset");
    check(cudaMemset(gave_up_.get(), 0, sizeof(int)), "cudaMemset");
    stream_ = std::shared_ptr<CUstream_st>(made_stream(), cudaStreamDestroy);
    begin_ = made_event();
    end_ = made_event();
    // Loads the kernels, which would wait for a kernel that is running.
    launch_ping_pong({.gave_up = gave_up_.get()}, stream());
    launch_stores(target(), sizeof(uint4), 1, multiprocessors_, stream());
    synchronize();
  }

  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] ProbedGpu named(const std::string& host) const {
    return {.host = host, .uuid = uuid_, .pci_bus_id = pci_bus_id_};
  }
  [[nodiscard]] std::byte* source() const { return source_.get(); }
  [[nodiscard]] std::byte* target() const { return target_.get(); }
  [[nodiscard]] std::uint64_t* flag() const { return flag_.get(); }
  [[nodiscard]] int* gave_up() const { return gave_up_.get(); }
  [[nodiscard]] int multiprocessors() const { return multiprocessors_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }

  void begin() const { check(cudaEventRecord(begin_.get(), stream()), "cudaEventRecord"); }
  void end() const { check(cudaEventRecord(end_.get(), stream()), "cudaEventRecord"); }
  void synchronize() const {
    check(cudaGetLastError(), "a probe's kernel");
    check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
  }
  /// Between begin() and end().
  [[nodiscard]] double seconds() const {
    synchronize();
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()), "cudaEventElapsedTime");
    return milliseconds * 1e-3;
  }
  /// What it holds at `data`, on the host.
  template <class T>
  [[nodiscard]] std::vector<T> read(const void* data, std::size_t count) const {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return values;
  }

 private:
  template <class T>
  static std::shared_ptr<T> allocate(std::size_t bytes) {
    void* data = nullptr;
    check(cudaMalloc(&data, bytes), "cudaMalloc");
    return std::shared_ptr<T>(static_cast<T*>(data), [](T* block) { cudaFree(block); });
  }
  static cudaStream_t made_stream() {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    return stream;
  }
  static std::shared_ptr<CUevent_st> made_event() {
    cudaEvent_t event = nullptr;
    check(cudaEventCreate(&event), "cudaEventCreate");
    return {event, cudaEventDestroy};
  }
  static std::string uuid_text(const cudaUUID_t& uuid) {
    std::string text = "GPU";
    for (int i = 0; i < 16; ++i) {
      const bool starts_group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
      text += fmt::format("{}{:02x}", starts_group ? "-" : "", static_cast<unsigned char>(uuid.bytes[i]));
    }
    return text;
  }

  int device_;
  int multiprocessors_ = 0;
  std::string uuid_;
  std::string pci_bus_id_;
  std::shared_ptr<std::byte> source_;
  std::shared_ptr<std::byte> target_;
  std::shared_ptr<std::uint64_t> flag_;
  std::shared_ptr<int> gave_up_;
  std::shared_ptr<CUstream_st> stream_;
  std::shared_ptr<CUevent_st> begin_;
  std::shared_ptr<CUevent_st> end_;
};

double median(int repetitions, const std::function<double()>& measure) {
  std::vector<double> values;
  for (int i = 0; i <= repetitions; ++i) values.push_back(measure());
  values.erase(values.begin());  // warmed up
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

int repeats_of(std::size_t bytes) {
  return static_cast<int>(std::clamp<std::size_t>(bytes_per_measurement / bytes, 2, most_repeats));
}

/// Lets kernels of one GPU store into another's memory. \return whether they can
bool enable_access(int from, int to) {
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, from, to), "cudaDeviceCanAccessPeer");
  if (can == 0) return false;
  const UsedDevice used(from);
  check(cudaDeviceEnablePeerAccess(to, 0), "cudaDeviceEnablePeerAccess");
  return true;
}

/// All that is measured from one GPU to another.
class PairProbe {
 public:
  PairProbe(const ProbingGpu& from, const ProbingGpu& to, int repetitions)
      : from_(from), to_(to), repetitions_(repetitions) {}

  [[nodiscard]] double put_us(std::size_t bytes) const {
    const double seconds = median(repetitions_, [&] {
      poison(bytes);
      for (const ProbingGpu* gpu : {&from_, &to_}) {
        const UsedDevice used(gpu->device());
        check(cudaMemsetAsync(gpu->flag(), 0, sizeof(std::uint64_t), gpu->stream()), "cudaMemsetAsync");
        gpu->synchronize();
      }
      play(to_, from_, bytes, false);
      play(from_, to_, bytes, true);
      to_.synchronize();
      return from_.seconds();
    });
    if (from_.read<int>(from_.gave_up(), 1)[0] != 0 || to_.read<int>(to_.gave_up(), 1)[0] != 0)
      throw Error(ErrorKind::timeout, "a GPU's flag never reached its peer's kernel");
    require(to_.read<std::uint8_t>(to_.target(), bytes), put_byte(trips), "a put");
    require(from_.read<std::uint8_t>(from_.target(), bytes), put_byte(trips), "a put");
    return seconds / trips / 2 * 1e6;
  }

  [[nodiscard]] double store_gb_per_s(std::size_t bytes) const {
    poison(bytes);
    const int repeats = repeats_of(bytes);
    const double seconds = median(repetitions_, [&] {
      const UsedDevice used(from_.device());
      from_.begin();
      launch_stores(to_.target(), bytes, repeats, from_.multiprocessors(), from_.stream());
      from_.end();
      return from_.seconds();
    });
    require(to_.read<std::uint32_t>(to_.target(), bytes / sizeof stored_word), stored_word, "stores");
    return static_cast<double>(bytes) * repeats / seconds * 1e-9;
  }

  [[nodiscard]] double copy_gb_per_s(std::size_t bytes) const {
    poison(bytes);
    const double seconds = median(repetitions_, [&] {
      start_copies(bytes);
      return from_.seconds();
    });
    require_copied(bytes);
    return static_cast<double>(bytes) * repeats_of(bytes) / seconds * 1e-9;
  }

  void start_copies(std::size_t bytes) const {
    const UsedDevice used(from_.device());
    from_.begin();
    for (int i = 0; i < repeats_of(bytes); ++i) {
      check(cudaMemcpyPeerAsync(to_.target(), to_.device(), from_.source(), from_.device(), bytes,
                                from_.stream()),
            "cudaMemcpyPeerAsync");
    }
    from_.end();
  }
  [[nodiscard]] double seconds_of_copies() const { return from_.seconds(); }
  void require_copied(std::size_t bytes) const {
    require(to_.read<std::uint8_t>(to_.target(), bytes), static_cast<std::uint8_t>(from_.device() + 1),
            "a copy");
  }

 private:
  void poison(std::size_t bytes) const {
    for (const ProbingGpu* gpu : {&from_, &to_}) {
      const UsedDevice used(gpu->device());
      check(cudaMemsetAsync(gpu->target(), 0, bytes, gpu->stream()), "cudaMemsetAsync");
      gpu->synchronize();
    }
  }
  static void play(const ProbingGpu& player, const ProbingGpu& other, std::size_t bytes, bool begins) {
    const UsedDevice used(player.device());
    player.begin();
    launch_ping_pong({.own_flag = player.flag(),
                      .other_flag = other.flag(),
                      .other_buffer = other.target(),
                      .bytes = bytes,
                      .trips = trips,
                      .begins = begins,
                      .gave_up = player.gave_up()},
                     player.stream());
    player.end();
  }
  template <class T>
  void require(const std::vector<T>& seen, T wanted, const char* what) const {
    const auto wrong = std::ranges::find_if(seen, [&](T value) { return value != wanted; });
    if (wrong == seen.end()) return;
    throw Error(ErrorKind::cuda, fmt::format("{} from GPU {} to GPU {} left wrong values at element {}", what,
                                             from_.device(), to_.device(), wrong - seen.begin()));
  }

  const ProbingGpu& from_;
  const ProbingGpu& to_;
  int repetitions_;
};

class GpuProber {
 public:
  GpuProber(int count, const ProbeOptions& options) : options_(options) {
    probes_.bandwidth_bytes = options.bandwidth_bytes;
    for (std::size_t& bytes : probes_.bandwidth_bytes)
      bytes = std::clamp(bytes / sizeof(uint4) * sizeof(uint4), sizeof(uint4), most_bytes);
    probes_.bandwidth_bytes.push_back(most_bytes);
    for (int device = 0; device < count; ++device) gpus_.emplace_back(device);
    for (int from = 0; from < count; ++from) {
      for (int to = 0; to < count; ++to) reaches_.push_back(from != to && enable_access(from, to));
    }
  }

  GpuProbes measure(const std::string& host) {
    for (const ProbingGpu& gpu : gpus_) probes_.gpus.push_back(gpu.named(host));
    for (int from = 0; from < count(); ++from) {
      for (int to = 0; to < count(); ++to) {
        if (from != to) probes_.pairs.push_back(alone(from, to));
      }
    }
    for (int round = 0; round < tournament_rounds(count()); ++round) measure_together(round);
    return std::move(probes_);
  }

 private:
  [[nodiscard]] int count() const { return static_cast<int>(gpus_.size()); }

  /// Whether kernels of each can store into the other's memory.
  [[nodiscard]] bool reach_each_other(int a, int b) const {
    return reaches_[static_cast<std::size_t>(a * count() + b)] &&
           reaches_[static_cast<std::size_t>(b * count() + a)];
  }

  [[nodiscard]] ProbedGpuPair alone(int from, int to) const {
    ProbedGpuPair pair{.from = from, .to = to, .put_us = {}, .store_gb_per_s = {}, .copy_gb_per_s = {}};
    const PairProbe probe(gpus_[from], gpus_[to], options_.repetitions);
    const bool reaches = reach_each_other(from, to);
    for (const std::size_t bytes : options_.latency_bytes) {
      if (reaches) pair.put_us.push_back(probe.put_us(std::min(bytes, most_bytes)));
    }
    for (const std::size_t bytes : probes_.bandwidth_bytes) {
      if (reaches) pair.store_gb_per_s.push_back(probe.store_gb_per_s(bytes));
      pair.copy_gb_per_s.push_back(probe.copy_gb_per_s(bytes));
    }
    return pair;
  }

  /// Each GPU of the round sends to one that sends to it.
  void measure_together(int round) {
    std::vector<std::pair<ProbedGpuPair*, PairProbe>> senders;
    for (ProbedGpuPair& pair : probes_.pairs) {
      if (tournament_partner(pair.from, round, count()) != pair.to) continue;
      senders.emplace_back(&pair, PairProbe(gpus_[pair.from], gpus_[pair.to], options_.repetitions));
    }
    for (const auto& [pair, probe] : senders) probe.start_copies(most_bytes);
    for (const auto& [pair, probe] : senders)
      pair->copy_gb_per_s_together =
          static_cast<double>(most_bytes) * repeats_of(most_bytes) / probe.seconds_of_copies() * 1e-9;
    for (const auto& [pair, probe] : senders) probe.require_copied(most_bytes);
  }

  const ProbeOptions& options_;
  std::vector<ProbingGpu> gpus_;
  std::vector<bool> reaches_;  // by sender, then receiver
  GpuProbes probes_;
};

}  // namespace

Figure<GpuProbes> probe_gpus(const std::string& host, const ProbeOptions& options) {
  try {
    int count = 0;
    check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    if (count < 2) return Figure<GpuProbes>::unknown(fmt::format("CUDA shows {} GPU to this process", count));
    return Figure<GpuProbes>::known(GpuProber(count, options).measure(host), Source::probe);
  } catch (const Error& error) {
    return Figure<GpuProbes>::unknown(error.message());
  }
}

}  // namespace selvage::topo
