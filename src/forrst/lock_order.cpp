// SPDX-License-Identifier: Apache-2.0
#include "forrst/lock_order.hpp"

#include <holdfast/forrst/service.hpp>

#include "forrst/duration.hpp"
#include "forrst/envelope.hpp"
#include "forrst/lock_key.hpp"
#include "text/fence.hpp"
#include "text/quote.hpp"

#include <fmt/format.h>

#include <array>

namespace holdfast::forrst {

namespace {

namespace json = boost::json;

constexpr std::string_view arguments_place = "/call/arguments";
// What the PHP server calls its locks.
constexpr std::string_view other_prefix = "forrst_lock:";

class Reader {
 public:
  Reader(const json::object& options, std::string_view place, std::vector<Fault>& faults)
      : options_(options), place_(place), faults_(faults), before_(faults.size()) {}

  const json::value* find(std::string_view name) const { return options_.if_contains(name); }

  void refuse(std::string_view member, std::string message) {
    refuse_at(pointer_to(place_, member), std::move(message));
  }
  void refuse_at(std::string pointer, std::string message) {
    faults_.push_back({.code = std::string(codes::invalid_arguments),
                       .message = std::move(message),
                       .pointer = std::move(pointer)});
  }
  std::optional<Duration> duration(std::string_view name, std::string_view what) {
    const auto* value = find(name);
    const auto parsed = parse_duration(*value, {.what = std::string(what), .most = max_lock_ttl});
    if (parsed) return *parsed;
    const auto& bad = parsed.error();
    const auto pointer = pointer_to(place_, name);
    refuse_at(bad.member.empty() ? pointer : pointer_to(pointer, bad.member), bad.message);
    return std::nullopt;
  }
  bool is_good() const { return faults_.size() == before_; }

 private:
  const json::object& options_;
  const std::string_view place_;
  std::vector<Fault>& faults_;
  const std::size_t before_;
};

// Empty: it is good.
std::string wrong_with_key(std::string_view key) {
  if (key.size() > max_lock_key_bytes) {
    return fmt::format("Lock key must be at most {} characters", max_lock_key_bytes);
  }
  if (!has_key_letters_only(key)) {
    return "Lock key may have letters, digits and -_:. only";
  }
  if (key.contains(beside_a_lock)) return "Lock key must not contain ':meta:'";
  return {};
}

void read_key(Reader& in, LockOrder& out) {
  const auto* value = in.find("key");
  const auto* text = value != nullptr ? value->if_string() : nullptr;
  if (value == nullptr || (text != nullptr && text->empty())) {
    return in.refuse("key", "Lock key is required");
  }
  if (text == nullptr) return in.refuse("key", "Lock key must be a string");
  if (auto wrong = wrong_with_key(*text); !wrong.empty()) return in.refuse("key", std::move(wrong));
  out.key = *text;
}

void read_scope(Reader& in, LockOrder& out) {
  const auto* value = in.find("scope");
  if (value == nullptr) return;
  const auto* text = value->if_string();
  if (text == nullptr || (*text != "function" && *text != "global")) {
    return in.refuse("scope", "Lock scope must be function or global");
  }
  out.is_global = *text == "global";
}

void read_owner(Reader& in, LockOrder& out) {
  const auto* value = in.find("owner");
  if (value == nullptr) return;
  const auto* text = value->if_string();
  if (text == nullptr) return in.refuse("owner", "Lock owner must be a string");
  if (const auto owner = OwnerId::make(*text); !owner) {
    return in.refuse("owner", "Lock " + owner.error().message);
  }
  out.owner = *text;
}

void read_block(Reader& in, LockOrder& out) {
  const auto* value = in.find("block");
  if (value == nullptr) return;
  out.block = in.duration("block", "Lock block");
  if (out.block) out.block_text = value->get_object();
}

void read_auto_release(Reader& in, LockOrder& out) {
  const auto* value = in.find("auto_release");
  if (value == nullptr) return;
  if (!value->is_bool())
    return in.refuse("auto_release", "Lock auto_release must be true or false");
  out.auto_release = value->get_bool();
}

std::optional<Duration> read_ttl(Reader& in) {
  if (in.find("ttl") != nullptr) return in.duration("ttl", "Lock TTL");
  in.refuse("ttl", "Lock TTL is required");
  return std::nullopt;
}

}  // namespace

json::object LockOrder::details() const {
  return {{"key", key}, {"scope", scope()}, {"full_key", full_key}};
}

std::optional<LockOrder> parse_lock(const json::object& options, std::string_view place,
                                    std::string_view function, std::string_view prefix,
                                    std::vector<Fault>& faults) {
  Reader in(options, place, faults);
  LockOrder order;
  read_key(in, order);
  order.ttl = read_ttl(in).value_or(Duration{});
  read_scope(in, order);
  read_block(in, order);
  read_owner(in, order);
  read_auto_release(in, order);
  if (!in.is_good()) return std::nullopt;
  order.full_key = order.is_global ? fmt::format("{}{}", prefix, order.key)
                                   : fmt::format("{}{}:{}", prefix, function, order.key);
  if (const auto name = LockName::make(order.full_key); !name) {
    in.refuse("key", "Lock key: " + name.error().message);
    return std::nullopt;
  }
  return order;
}

std::optional<FullKey> parse_full_key(const json::object& arguments, std::string_view prefix,
                                      std::vector<Fault>& faults) {
  Reader in(arguments, arguments_place, faults);
  const auto* value = in.find("key");
  const auto* text = value != nullptr ? value->if_string() : nullptr;
  if (text == nullptr || text->empty()) {
    in.refuse("key", "Lock key is required, with its prefix, as a string");
    return std::nullopt;
  }
  const std::string_view key = *text;
  for (const auto each : {prefix, other_prefix}) {
    if (!key.starts_with(each)) continue;
    auto name = LockName::make(fmt::format("{}{}", prefix, key.substr(each.size())));
    const bool is_good = has_key_letters_only(key) && !key.contains(beside_a_lock);
    if (name && is_good && key.size() > each.size()) return FullKey{std::string(key), *name};
    in.refuse("key", "Lock key must be a prefix and letters, digits and -_:. without ':meta:'");
    return std::nullopt;
  }
  in.refuse("key", fmt::format("Lock key must begin with its prefix: {} or {}",
                               text::quoted(prefix), text::quoted(other_prefix)));
  return std::nullopt;
}

std::optional<OwnerId> parse_owner(const json::object& arguments, std::vector<Fault>& faults) {
  Reader in(arguments, arguments_place, faults);
  const auto* value = in.find("owner");
  const auto* text = value != nullptr ? value->if_string() : nullptr;
  if (text == nullptr || text->empty()) {
    in.refuse("owner", "Lock owner is required, as a string");
    return std::nullopt;
  }
  auto owner = OwnerId::make(*text);
  if (owner) return *owner;
  in.refuse("owner", "Lock " + owner.error().message);
  return std::nullopt;
}

std::optional<Fence> parse_fence(const json::object& arguments, std::vector<Fault>& faults) {
  Reader in(arguments, arguments_place, faults);
  const auto* value = in.find("fence");
  if (value == nullptr || value->is_null()) return std::nullopt;
  const auto fence = text::fence_in(*value);
  if (!fence) in.refuse("fence", fmt::format("fence: {}", text::fence_rule));
  return fence;
}

std::optional<Duration> parse_ttl(const json::object& options, std::string_view place,
                                  std::vector<Fault>& faults) {
  Reader in(options, place, faults);
  return read_ttl(in);
}

}  // namespace holdfast::forrst
