// SPDX-License-Identifier: Apache-2.0
#include "server/locks/order.hpp"

#include "client/options_check.hpp"
#include "server/http/fields.hpp"
#include "server/services.hpp"
#include "text/words.hpp"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <array>
#include <cstring>

namespace holdfast::server {

namespace {

using model::LockSpec;

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

// The parts are kept apart by their lengths: no two different triples have the same text.
Digest digest_of(std::string_view purpose, const Principal& principal, std::string_view name,
                 std::string_view key) {
  std::string text(purpose);
  text.append(reinterpret_cast<const char*>(principal.secret_hash.data()),
              principal.secret_hash.size());
  text += fmt::format("{}:{}{}:{}", name.size(), name, key.size(), key);
  Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

std::uint64_t number_at(const Digest& digest, std::size_t offset) {
  std::uint64_t number = 0;
  std::memcpy(&number, digest.data() + offset, sizeof(number));
  return number;
}

// A retry must find the lease of the first attempt, so its owner follows from the same key. Nobody
// without the caller's token can compute it.
OwnerId owner_for(const Principal& principal, std::string_view name, std::string_view key) {
  const auto digest = digest_of("holdfast owner", principal, name, key);
  return OwnerId::from_random(number_at(digest, 0), number_at(digest, 8));
}

Result<LockSpec> spec_from(Fields& fields) {
  Kind kind = Kind::mutex;
  if (const auto word = fields.text("kind", 32)) {
    const auto known = text::parse_kind(*word);
    if (!known)
      fields.refuse("kind", "must be mutex, reentrant, read_write, semaphore or election");
    kind = known.value_or(Kind::mutex);
  }
  Order order = Order::automatic;
  if (const auto word = fields.text("order", 32)) {
    const auto known = text::parse_order(*word);
    if (!known) fields.refuse("order", "must be automatic, fifo or barging");
    order = known.value_or(Order::automatic);
  }
  const auto capacity = fields.number("capacity", 1, all_permits - 1);
  if (capacity && kind != Kind::semaphore) fields.refuse("capacity", "only a semaphore has one");
  if (!capacity && kind == Kind::semaphore) fields.refuse("capacity", "a semaphore needs one");
  switch (kind) {
    case Kind::mutex: return LockSpec::mutex(order);
    case Kind::reentrant: return LockSpec::reentrant(order);
    case Kind::read_write: return LockSpec::read_write(order);
    case Kind::semaphore:
      return LockSpec::semaphore(static_cast<std::uint32_t>(capacity.value_or(1)), order);
    case Kind::election: return LockSpec::election();
  }
  return LockSpec::mutex(order);
}

std::uint32_t permits_from(Fields& fields, const LockSpec& spec) {
  const auto mode = fields.text("mode", 32);
  const bool reads = mode && (*mode == "read" || *mode == "shared");
  const bool writes = mode && (*mode == "write" || *mode == "exclusive");
  if (mode && !reads && !writes) fields.refuse("mode", "must be read or write");
  if (mode && spec.kind != Kind::read_write)
    fields.refuse("mode", "only a read_write lock has one");
  const auto permits = fields.number("permits", 1, all_permits - 1);
  if (permits && spec.kind != Kind::semaphore) {
    fields.refuse("permits", "only a semaphore has permits");
  }
  switch (spec.kind) {
    case Kind::mutex: return all_permits;
    case Kind::read_write: return reads ? 1 : all_permits;
    case Kind::semaphore:
      if (permits && *permits > spec.capacity) {
        fields.refuse("permits",
                      fmt::format("must be between 1 and the capacity of {}", spec.capacity));
      }
      return static_cast<std::uint32_t>(permits.value_or(1));
    case Kind::reentrant:
    case Kind::election: return 1;
  }
  return all_permits;
}

// What the caller says of itself. Nothing of the server's own process: it is not the one that
// holds the lock.
Result<model::MetadataPtr> metadata_from(const boost::json::object* object) {
  if (object == nullptr) return model::MetadataPtr{};
  Fields fields(*object, "metadata.");
  Metadata metadata;
  ProcessInfo process;
  metadata.note = fields.text("note", max_metadata_bytes).value_or("");
  metadata.source = fields.text("source", max_metadata_bytes).value_or("");
  metadata.value = fields.text("value", max_metadata_bytes).value_or("");
  process.host = fields.text("host", max_metadata_bytes).value_or("");
  process.program = fields.text("program", max_metadata_bytes).value_or("");
  process.pid = static_cast<std::int64_t>(fields.number("pid", 0, INT32_MAX).value_or(0));
  if (auto good = fields.done(); !good) return std::unexpected(std::move(good.error()));
  if (process != ProcessInfo{}) {
    metadata.process = std::make_shared<const ProcessInfo>(std::move(process));
  }
  return std::make_shared<const Metadata>(std::move(metadata));
}

}  // namespace

Result<model::RequestId> held_request(const Call& call, const LockName& name, const OwnerId& owner,
                                      std::string_view key) {
  if (key.empty()) return model::RequestId::any;
  if (!call.services.core().store().capabilities().spends_requests) {
    return request_id(*call.principal, name.str(), key);
  }
  if (owner == owner_for(*call.principal, name.str(), key)) return model::RequestId::any;
  return fail(Errc::unsupported,
              "request: this store does not keep it, so that only everything that the owner holds "
              "can be meant");
}

model::RequestId request_id(const Principal& principal, std::string_view name,
                            std::string_view key) {
  const auto number = number_at(digest_of("holdfast request", principal, name, key), 0);
  return model::RequestId{number == 0 ? 1 : number};
}

Result<RequestKey> request_key(const Call& call, std::optional<std::string_view> field) {
  const auto header = call.request.header("Idempotency-Key");
  if (header.size() > max_request_key_bytes) {
    return fail(Errc::bad_input, fmt::format("Idempotency-Key: must be at most {} bytes long",
                                             max_request_key_bytes));
  }
  if (!header.empty() && field && *field != header) {
    return fail(Errc::bad_input, "request: differs from the header Idempotency-Key");
  }
  return RequestKey{std::string(field.value_or(header))};
}

Result<AcquireOrder> parse_acquire(const Call& call, client::Core& core, std::string_view name,
                                   const boost::json::object& body) {
  auto good_name = LockName::make(name);
  if (!good_name) return std::unexpected(std::move(good_name.error()));
  Fields fields(body);
  const auto spec = spec_from(fields);
  const auto permits = permits_from(fields, *spec);
  const auto ttl = fields.duration("ttl", min_ttl, max_ttl).value_or(default_ttl);
  const auto wait = fields.duration("wait", Duration::zero(), max_wait).value_or(Duration::zero());
  const auto owner_text = fields.text("owner", max_owner_bytes);
  const auto request_text = fields.text("request", max_request_key_bytes);
  const auto session_text = fields.text("session", max_session_bytes);
  const auto dialect = fields.text("dialect", 64);
  auto metadata = metadata_from(fields.object("metadata"));
  if (auto good = fields.done(); !good) return std::unexpected(std::move(good.error()));
  if (!metadata) return std::unexpected(std::move(metadata.error()));
  if (dialect && *dialect != "native") {
    return fail(Errc::unsupported, "dialect: is chosen by the store's URL, not for a single lock");
  }
  auto key = request_key(call, request_text);
  if (!key) return std::unexpected(std::move(key.error()));
  std::optional<SessionId> session;
  if (session_text && !session_text->empty()) session = SessionId::of(*session_text);
  if (session && owner_text) {
    return fail(Errc::bad_input, "owner: a session has an owner of its own");
  }
  auto owner = owner_text          ? OwnerId::make(*owner_text)
               : session           ? Result<OwnerId>(session->owner)
               : key->text.empty() ? Result<OwnerId>(core.fresh_owner())
                                   : Result<OwnerId>(owner_for(*call.principal, name, key->text));
  if (!owner) return std::unexpected(std::move(owner.error()));
  if (auto good = core.store().supports(*spec); !good) {
    return std::unexpected(std::move(good.error()));
  }
  // A store that takes back by itself what it does not grant would take it from whoever was granted
  // it by the same request, so there a key cannot tell one.
  const bool is_shared = !key->text.empty() && !core.store().capabilities().spends_requests;
  const auto request =
      is_shared ? request_id(*call.principal, name, key->text) : core.fresh_request();
  return AcquireOrder{.wanted = {.name = std::move(*good_name),
                                 .spec = *spec,
                                 .owner = std::move(*owner),
                                 .request = request,
                                 .permits = permits,
                                 .ttl = ttl,
                                 .wait = wait,
                                 .is_shared = is_shared,
                                 .metadata = std::move(*metadata)},
                      .session = std::move(session)};
}

}  // namespace holdfast::server
