// SPDX-License-Identifier: Apache-2.0
#include "model/codec.hpp"

#include "model/bytes.hpp"

#include <fmt/format.h>

#include <cassert>
#include <memory>
#include <utility>

namespace holdfast::model {
namespace {

constexpr std::uint8_t claimed_flag = 1;
constexpr std::uint8_t metadata_flag = 2;
constexpr std::uint8_t process_flag = 4;
constexpr std::uint8_t start_flag = 8;

constexpr std::uint8_t about_flags = metadata_flag | process_flag | start_flag;

constexpr std::size_t header_bytes = 19;
constexpr std::size_t offer_bytes = 16;
constexpr std::size_t hold_bytes = 53;    // without the texts
constexpr std::size_t waiter_bytes = 61;  // without the texts

std::uint8_t metadata_flags(const MetadataPtr& metadata) {
  if (!metadata) return 0;
  if (!metadata->process) return metadata_flag;
  const auto with_process = static_cast<std::uint8_t>(metadata_flag | process_flag);
  return metadata->process->started_ms != 0 ? with_process | start_flag : with_process;
}

void append_metadata(const MetadataPtr& metadata, std::string& out) {
  if (!metadata) return;
  append_text(metadata->source, out);
  append_text(metadata->note, out);
  append_text(metadata->value, out);
  if (!metadata->process) return;
  append_text(metadata->process->host, out);
  append_text(metadata->process->program, out);
  FixedWriter<8>().put(metadata->process->pid).append_to(out);
  const auto started_ms = metadata->process->started_ms;
  if (started_ms != 0) FixedWriter<8>().put(started_ms).append_to(out);
}

void append_header(const LockState& state, std::string& out) {
  assert(state.holds.size() <= UINT16_MAX && state.queue.size() <= UINT16_MAX);
  FixedWriter<header_bytes>()
      .put(state.offer.stands() ? state_format : format_without_offer)
      .put(static_cast<std::uint8_t>(state.spec.kind))
      .put(static_cast<std::uint8_t>(state.spec.order))
      .put(state.spec.capacity)
      .put(count_of(state.queue_expires))
      .put(static_cast<std::uint16_t>(state.holds.size()))
      .put(static_cast<std::uint16_t>(state.queue.size()))
      .append_to(out);
  if (!state.offer.stands()) return;
  FixedWriter<offer_bytes>().put(state.offer.place).put(count_of(state.offer.until)).append_to(out);
}

void append_hold(const Hold& hold, std::string& out) {
  auto flags = metadata_flags(hold.metadata);
  if (hold.claimed) flags |= claimed_flag;
  FixedWriter<hold_bytes>()
      .put(static_cast<std::uint64_t>(hold.request))
      .put(static_cast<std::uint64_t>(hold.process))
      .put(hold.permits)
      .put(flags)
      .put(hold.fence)
      .put(count_of(hold.expires))
      .put(count_of(hold.since))
      .put(std::int64_t{hold.ttl.count()})
      .append_to(out);
  append_text(hold.owner.view(), out);
  append_metadata(hold.metadata, out);
}

void append_waiter(std::uint64_t place, const Waiter& waiter, std::string& out) {
  FixedWriter<waiter_bytes>()
      .put(place)
      .put(static_cast<std::uint64_t>(waiter.request))
      .put(static_cast<std::uint64_t>(waiter.process))
      .put(waiter.permits)
      .put(metadata_flags(waiter.metadata))
      .put(static_cast<std::uint64_t>(waiter.converts))
      .put(count_of(waiter.since))
      .put(std::int64_t{waiter.ttl.count()})
      .put(std::int64_t{waiter.claim.count()})
      .append_to(out);
  append_text(waiter.owner.view(), out);
  append_metadata(waiter.metadata, out);
}

// Notes the first thing that is wrong, and goes on with harmless values until somebody asks.
class LockDecoder {
 public:
  explicit LockDecoder(std::string_view bytes) : in_(bytes) {}

  Result<LockState> run() {
    LockState state;
    const auto counts = read_header(state);
    if (broken()) return failure();
    read_holds(counts.holds, state);
    read_queue(counts.waiters, state);
    if (in_.left() != 0) note("has bytes after its end");
    if (broken()) return failure();
    return state;
  }

 private:
  struct Counts {
    std::size_t holds;
    std::size_t waiters;
  };

  bool broken() const { return in_.failed() || problem_ != nullptr; }

  void note(const char* problem) {
    if (!broken()) problem_ = problem;
  }

  std::unexpected<Error> failure() const {
    const char* problem = problem_ != nullptr ? problem_ : "is cut short";
    return fail(Errc::unavailable, fmt::format("the stored lock state {}", problem));
  }

  Counts read_header(LockState& state) {
    const auto format = in_.number<std::uint8_t>();
    if (format > state_format) note("was written in a newer format than this version reads");
    if (format < format_without_offer) note("has no valid format number");
    state.spec.kind = read_enum(Kind::mutex, Kind::election, "has an unknown kind");
    state.spec.order = read_enum(Order::automatic, Order::barging, "has an unknown order");
    state.spec.capacity = in_.number<std::uint32_t>();
    state.queue_expires = read_time();
    const Counts counts{in_.number<std::uint16_t>(), in_.number<std::uint16_t>()};
    if (format > format_without_offer) read_offer(state);
    // Checked before anything is allocated for them.
    const auto needed = counts.holds * hold_bytes + counts.waiters * waiter_bytes;
    if (needed > in_.left()) note("announces more holds and waiters than it has bytes for");
    return counts;
  }

  void read_offer(LockState& state) {
    state.offer.place = in_.number<std::uint64_t>();
    state.offer.until = read_time();
    if (!state.offer.stands()) note("has an offer that ends before it began");
  }

  void read_holds(std::size_t count, LockState& state) {
    state.holds.reserve(count);
    for (std::size_t at = 0; at < count && !broken(); ++at) {
      const auto request = RequestId{in_.number<std::uint64_t>()};
      const auto process = ProcessId{in_.number<std::uint64_t>()};
      const auto permits = in_.number<std::uint32_t>();
      const auto flags = read_flags(claimed_flag | about_flags);
      const auto fence = in_.number<std::uint64_t>();
      const auto expires = read_time();
      const auto since = read_time();
      const auto ttl = read_duration();
      auto owner = read_owner();
      if (!owner) return note("has an owner that is not allowed");
      state.holds.push_back(Hold{std::move(*owner), request, process, permits,
                                 (flags & claimed_flag) != 0, fence, expires, since, ttl,
                                 read_metadata(flags)});
    }
  }

  void read_queue(std::size_t count, LockState& state) {
    for (std::size_t at = 0; at < count && !broken(); ++at) {
      const auto place = in_.number<std::uint64_t>();
      const bool ascends = state.queue.empty() || place > state.queue.rbegin()->first;
      if (!ascends) note("has waiters out of order");
      const auto request = RequestId{in_.number<std::uint64_t>()};
      const auto process = ProcessId{in_.number<std::uint64_t>()};
      const auto permits = in_.number<std::uint32_t>();
      const auto flags = read_flags(about_flags);
      const auto converts = RequestId{in_.number<std::uint64_t>()};
      const auto since = read_time();
      const auto ttl = read_duration();
      const auto claim = read_duration();
      auto owner = read_owner();
      if (!owner) return note("has an owner that is not allowed");
      state.queue.emplace_hint(state.queue.end(), place,
                               Waiter{std::move(*owner), request, process, permits, converts, since,
                                      ttl, claim, read_metadata(flags)});
    }
  }

  template <typename E>
  E read_enum(E first, E last, const char* problem) {
    const auto value = static_cast<E>(in_.number<std::uint8_t>());
    if (value >= first && value <= last) return value;
    note(problem);
    return first;
  }

  unsigned read_flags(unsigned known) {
    const unsigned flags = in_.number<std::uint8_t>();
    // Each of these says something of the one before it.
    const unsigned about = flags & about_flags;
    const bool complete = about == 0 || about == metadata_flag ||
                          about == (metadata_flag | process_flag) || about == about_flags;
    if ((flags & ~known) != 0 || !complete) note("has unknown flags");
    return flags;
  }

  StoreTime read_time() {
    const auto us = in_.number<std::int64_t>();
    if (us < -max_time_us || us > max_time_us) note("has a time out of range");
    return StoreTime(Micros(us));
  }

  Micros read_duration() {
    const auto us = in_.number<std::int64_t>();
    if (us < 0 || us > max_time_us) note("has a duration out of range");
    return Micros(us);
  }

  // One that is not known is not written.
  std::int64_t read_start() {
    const auto ms = in_.number<std::int64_t>();
    if (ms == 0) note("has a process that started at 0");
    return ms;
  }

  Result<OwnerId> read_owner() { return OwnerId::make(in_.text()); }

  MetadataPtr read_metadata(unsigned flags) {
    if ((flags & metadata_flag) == 0) return nullptr;
    auto metadata = std::make_shared<Metadata>();
    metadata->source = in_.text();
    metadata->note = in_.text();
    metadata->value = in_.text();
    if ((flags & process_flag) == 0) return metadata;
    auto process = std::make_shared<ProcessInfo>();
    process->host = in_.text();
    process->program = in_.text();
    process->pid = in_.number<std::int64_t>();
    if ((flags & start_flag) != 0) process->started_ms = read_start();
    metadata->process = std::move(process);
    return metadata;
  }

  ByteReader in_;
  const char* problem_ = nullptr;
};

}  // namespace

void encode(const LockState& state, std::string& out) {
  out.clear();
  append_header(state, out);
  for (const auto& hold : state.holds) append_hold(hold, out);
  for (const auto& [place, waiter] : state.queue) append_waiter(place, waiter, out);
}

Result<LockState> decode(std::string_view bytes) { return LockDecoder(bytes).run(); }

}  // namespace holdfast::model
