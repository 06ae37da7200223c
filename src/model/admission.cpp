// SPDX-License-Identifier: Apache-2.0
#include "model/admission.hpp"

#include <holdfast/options.hpp>

#include "model/utf8.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>

namespace holdfast::model {
namespace {

// Microseconds are signed 64-bit here, so an overflow on the way in shows as a wrong number and is
// refused like any other.
Result<void> check_ttl(Micros ttl) {
  if (ttl >= min_ttl && ttl <= max_ttl) return {};
  return fail(Errc::bad_input,
              fmt::format("ttl must be from 20ms to 24h; got {} microseconds", ttl.count()));
}

Result<void> check_capacity(const LockSpec& spec) {
  switch (spec.kind) {
    case Kind::mutex:
    case Kind::read_write:
      if (spec.capacity == all_permits) return {};
      return fail(Errc::bad_input, "capacity of a mutex or read-write lock must be all_permits");
    case Kind::reentrant:
    case Kind::election:
      if (spec.capacity == 1) return {};
      return fail(Errc::bad_input, "capacity of a reentrant mutex or election must be 1");
    case Kind::semaphore:
      if (spec.capacity >= 1 && spec.capacity < all_permits) return {};
      return fail(Errc::bad_input,
                  fmt::format("capacity of a semaphore must be from 1 to {}; got {}",
                              all_permits - 1, spec.capacity));
  }
  return fail(Errc::bad_input,
              fmt::format("kind must be a known one; got {}", static_cast<unsigned>(spec.kind)));
}

Result<void> check_spec(const LockSpec& spec) {
  if (spec.order > Order::barging) {
    return fail(Errc::bad_input, fmt::format("order must be automatic, fifo or barging; got {}",
                                             static_cast<unsigned>(spec.order)));
  }
  return check_capacity(spec);
}

Result<void> check_permits(const LockSpec& spec, std::uint32_t permits) {
  switch (spec.kind) {
    case Kind::mutex:
      if (permits == all_permits) return {};
      return fail(Errc::bad_input, "permits of a mutex must be all_permits");
    case Kind::read_write:
      if (permits == 1 || permits == all_permits) return {};
      return fail(Errc::bad_input,
                  "permits of a read-write lock must be 1 (read) or all_permits (write)");
    case Kind::reentrant:
    case Kind::election:
      if (permits == 1) return {};
      return fail(Errc::bad_input, "permits of a reentrant mutex or election must be 1");
    case Kind::semaphore: break;
  }
  if (permits >= 1 && permits <= spec.capacity) return {};
  return fail(Errc::bad_input, fmt::format("permits must be from 1 to the semaphore's {}; got {}",
                                           spec.capacity, permits));
}

// Operators read these texts, so they must be text; lines and tabs are welcome, NUL is not, since
// it would cut the text short on its way through C.
Result<void> check_text(std::string_view field, std::string_view text) {
  if (is_printable_ascii(text)) return {};
  for (std::size_t at = 0; at < text.size();) {
    const auto point = first_code_point(text.substr(at));
    if (point.bytes == 0) {
      return fail(Errc::bad_input, fmt::format("{} must be UTF-8; byte {} is not", field, at));
    }
    if (point.value == 0) {
      return fail(Errc::bad_input, fmt::format("{} must not contain NUL; byte {} is", field, at));
    }
    at += point.bytes;
  }
  return {};
}

Result<void> check_metadata(const Metadata& metadata) {
  struct Part {
    std::string_view field;
    std::string_view text;
  };
  std::array<Part, 5> parts{{{"source", metadata.source},
                             {"note", metadata.note},
                             {"value", metadata.value},
                             {"host", {}},
                             {"program", {}}}};
  if (metadata.process) {
    parts[3].text = metadata.process->host;
    parts[4].text = metadata.process->program;
  }
  std::size_t bytes = 0;
  for (const auto& part : parts) bytes += part.text.size();
  if (bytes > max_metadata_bytes) {
    return fail(Errc::bad_input,
                fmt::format("metadata (host, program, source, note and value together) must be at "
                            "most {} bytes; got {}",
                            max_metadata_bytes, bytes));
  }
  for (const auto& part : parts) {
    if (auto checked = check_text(part.field, part.text); !checked) return checked;
  }
  return {};
}

// Metadata never changes, and most acquires of a thread come with the same: what was just found
// good is not read again. The weak pointer keeps the identity from being given to another one.
Result<void> check_metadata(const MetadataPtr& metadata) {
  thread_local std::weak_ptr<const Metadata> last_good;
  if (!metadata) return {};
  if (!last_good.owner_before(metadata) && !metadata.owner_before(last_good)) return {};
  auto checked = check_metadata(*metadata);
  if (checked) last_good = metadata;
  return checked;
}

Result<void> check_conversion(const LockSpec& spec, RequestId converts) {
  if (converts == RequestId::any) return {};
  if (spec.kind == Kind::read_write || spec.kind == Kind::mutex) return {};
  return fail(Errc::bad_input, "converts is only for read-write locks and mutexes");
}

Result<void> check_verb(const LockSpec& spec, const Acquire& acquire) {
  if (acquire.request == RequestId::any) {
    return fail(Errc::bad_input, "request of an acquire must not be 0");
  }
  if (acquire.claim <= Micros::zero()) {
    return fail(Errc::bad_input,
                fmt::format("claim must be positive; got {} microseconds", acquire.claim.count()));
  }
  if (auto checked = check_ttl(acquire.ttl); !checked) return checked;
  if (auto checked = check_permits(spec, acquire.permits); !checked) return checked;
  if (auto checked = check_conversion(spec, acquire.converts); !checked) return checked;
  return check_metadata(acquire.metadata);
}

Result<void> check_verb(const LockSpec&, const Renew& renew) {
  if (renew.fence > limits::max_agreed_fence) {
    return fail(Errc::bad_input, fmt::format("fence must be at most {}; got {}",
                                             limits::max_agreed_fence, renew.fence));
  }
  if (renew.fence != 0 && renew.request == RequestId::any) {
    return fail(Errc::bad_input, "fence is that of one lease, so its request must not be 0");
  }
  return check_ttl(renew.ttl);
}

Result<void> check_verb(const LockSpec&, const ForceRelease& force) {
  if (force.source.size() > max_metadata_bytes) {
    return fail(Errc::bad_input, fmt::format("source must be at most {} bytes; got {}",
                                             max_metadata_bytes, force.source.size()));
  }
  return check_text("source", force.source);
}

// Whatever may be released or inspected, its owner was checked when it was made.
template <typename Verb>
Result<void> check_verb(const LockSpec&, const Verb&) {
  return {};
}

}  // namespace

Result<void> admissible(const LockCommand& command) {
  if (auto checked = check_spec(command.spec); !checked) return checked;
  return std::visit([&](const auto& verb) { return check_verb(command.spec, verb); }, command.verb);
}

}  // namespace holdfast::model
