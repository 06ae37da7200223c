// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/record.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace holdfast::backends::redis {

namespace {

constexpr std::size_t hex_width = 16;
constexpr std::size_t fence_width = 16;

// Cuts fields off the front of a text.
class Fields {
 public:
  explicit Fields(std::string_view text) : rest_(text) {}

  std::string_view cut(std::size_t bytes) {
    if (rest_.size() < bytes) failed_ = true;
    const auto field = rest_.substr(0, bytes);
    rest_.remove_prefix(field.size());
    return field;
  }
  std::uint64_t digits(std::size_t width) { return number(parse_digits(cut(width))); }
  std::uint64_t hex() { return number(parse_hex(cut(hex_width))); }
  std::string_view until_nul() {
    const auto nul = rest_.find('\0');
    if (nul == std::string_view::npos) failed_ = true;
    const auto field = cut(std::min(nul, rest_.size()));
    rest_.remove_prefix(std::min<std::size_t>(1, rest_.size()));
    return field;
  }
  std::string_view rest() const { return rest_; }
  bool failed() const { return failed_; }
  void fail() { failed_ = true; }

 private:
  std::uint64_t number(std::optional<std::uint64_t> parsed) {
    if (!parsed) failed_ = true;
    return parsed.value_or(0);
  }

  std::string_view rest_;
  bool failed_ = false;
};

std::optional<std::uint64_t> parse(std::string_view text, int base) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

model::StoreTime store_time(std::uint64_t us) {
  return model::StoreTime(Micros(static_cast<std::int64_t>(us)));
}

std::optional<model::LockSpec> parse_spec(Fields& fields) {
  const auto kind = fields.digits(1);
  const auto order = fields.digits(1);
  const auto capacity = fields.digits(10);
  const bool known = kind >= 1 && kind <= std::to_underlying(Kind::election) &&
                     order <= std::to_underlying(Order::barging) && capacity <= all_permits;
  if (fields.failed() || !known) return std::nullopt;
  // A lock that was bound without an order is fifo.
  return model::LockSpec{static_cast<Kind>(kind),
                         order == 0 ? Order::fifo : static_cast<Order>(order),
                         static_cast<std::uint32_t>(capacity)};
}

}  // namespace

std::optional<std::uint64_t> parse_digits(std::string_view text) { return parse(text, 10); }
std::optional<std::uint64_t> parse_hex(std::string_view text) { return parse(text, 16); }

void append_digits(std::string& out, std::uint64_t number, std::size_t width) {
  std::array<char, 20> text;
  auto at = text.size();
  do {
    text[--at] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  const std::size_t count = text.size() - at;
  if (count < width) out.append(width - count, '0');
  out.append(text.data() + at, count);
}

void append_hex(std::string& out, std::uint64_t number) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) out += digits[number >> shift & 0xf];
}

model::MetadataPtr parse_metadata(std::string_view text) {
  if (text.empty()) return nullptr;
  Fields fields(text);
  auto metadata = std::make_shared<Metadata>();
  metadata->source = fields.until_nul();
  metadata->note = fields.until_nul();
  metadata->value = fields.until_nul();
  if (!fields.rest().empty()) {
    auto process = std::make_shared<ProcessInfo>();
    process->host = fields.until_nul();
    process->program = fields.until_nul();
    process->pid = static_cast<std::int64_t>(parse_digits(fields.until_nul()).value_or(0));
    if (!fields.rest().empty()) {
      process->started_ms = static_cast<std::int64_t>(parse_digits(fields.until_nul()).value_or(0));
    }
    metadata->process = std::move(process);
  }
  return metadata;
}

void append_metadata(std::string& out, const model::MetadataPtr& metadata) {
  if (!metadata) return;
  const auto field = [&out](std::string_view text) { out.append(text).push_back('\0'); };
  field(metadata->source);
  field(metadata->note);
  field(metadata->value);
  if (!metadata->process) return;
  field(metadata->process->host);
  field(metadata->process->program);
  append_digits(out, static_cast<std::uint64_t>(metadata->process->pid), 1);
  out.push_back('\0');
  if (metadata->process->started_ms == 0) return;
  append_digits(out, static_cast<std::uint64_t>(metadata->process->started_ms), 1);
  out.push_back('\0');
}

void append_tail(std::string& out, const Body& body) {
  append_digits(out, std::to_underlying(body.spec.kind), 1);
  append_digits(out, std::to_underlying(body.spec.order), 1);
  append_digits(out, body.spec.capacity, 10);
  append_digits(out, body.permits, 10);
  append_hex(out, std::to_underlying(body.process));
  append_digits(out, static_cast<std::uint64_t>(body.ttl.count()), 11);
}

std::optional<Body> parse_body(std::string_view text) {
  if (text.size() < tail_bytes) return std::nullopt;
  Fields tail(text.substr(text.size() - tail_bytes));
  const auto spec = parse_spec(tail);
  Body body{.spec = spec.value_or(model::LockSpec{}),
            .permits = static_cast<std::uint32_t>(tail.digits(10)),
            .process = model::ProcessId{tail.hex()},
            .ttl = Micros(static_cast<std::int64_t>(tail.digits(11))),
            .metadata = nullptr};
  if (!spec || tail.failed()) return std::nullopt;
  body.metadata = parse_metadata(text.substr(0, text.size() - tail_bytes));
  return body;
}

std::optional<Identity> parse_identity(std::string_view text) {
  Fields fields(text);
  const auto request = fields.hex();
  auto owner = OwnerId::make(fields.rest());
  if (fields.failed() || !owner) return std::nullopt;
  return Identity{std::move(*owner), model::RequestId{request}};
}

namespace {

// What is left of the text: fence, then since if the holder was ever renewed.
std::optional<model::Hold> hold_from(std::string_view id, std::string_view body_text) {
  auto identity = parse_identity(id);
  auto body = parse_body(body_text);
  if (!identity || !body) return std::nullopt;
  return model::Hold{.owner = std::move(identity->owner),
                     .request = identity->request,
                     .process = body->process,
                     .permits = body->permits,
                     .ttl = body->ttl,
                     .metadata = std::move(body->metadata)};
}

}  // namespace

std::optional<model::Hold> parse_lone_hold(std::string_view value, Micros left,
                                           model::StoreTime now, model::LockSpec& spec) {
  constexpr std::size_t since_width = 17;  // with a '+' behind it
  std::optional<std::uint64_t> since;
  if (value.ends_with('+') && value.size() > since_width) {
    since = parse_digits(value.substr(value.size() - since_width, since_width - 1));
    value.remove_suffix(since_width);
  }
  const auto nul = value.find('\0');
  if (nul == std::string_view::npos || value.size() < nul + 1 + tail_bytes + fence_width) {
    return std::nullopt;
  }
  const auto fence = parse_digits(value.substr(value.size() - fence_width));
  const auto body_text = value.substr(nul + 1, value.size() - fence_width - nul - 1);
  auto hold = hold_from(value.substr(1, nul - 1), body_text);
  if (!hold || !fence) return std::nullopt;
  spec = parse_body(body_text)->spec;
  hold->fence = *fence;
  hold->expires = now + left;
  hold->since = since ? store_time(*since) : now - hold->ttl + left;
  return hold;
}

std::optional<model::Hold> parse_hold(std::string_view id, std::string_view record) {
  Fields fields(record);
  const auto claimed = fields.digits(1);
  const auto fence = fields.digits(fence_width);
  const auto since = fields.digits(16);
  auto hold = hold_from(id, fields.rest());
  if (fields.failed() || !hold) return std::nullopt;
  hold->claimed = claimed == 1;
  hold->fence = fence;
  hold->since = store_time(since);
  return hold;
}

std::optional<model::Waiter> parse_waiter(std::string_view id, std::string_view record) {
  Fields fields(record);
  const auto since = fields.digits(16);
  const auto claim = fields.digits(20);
  const auto converts = fields.hex();
  auto identity = parse_identity(id);
  auto body = parse_body(fields.rest());
  if (fields.failed() || !identity || !body) return std::nullopt;
  return model::Waiter{.owner = std::move(identity->owner),
                       .request = identity->request,
                       .process = body->process,
                       .permits = body->permits,
                       .converts = model::RequestId{converts},
                       .since = store_time(since),
                       .ttl = body->ttl,
                       .claim = Micros(static_cast<std::int64_t>(claim)),
                       .metadata = std::move(body->metadata)};
}

}  // namespace holdfast::backends::redis
