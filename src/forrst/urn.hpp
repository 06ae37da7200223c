// SPDX-License-Identifier: Apache-2.0
//
// The extensions that we know, under the spellings that are in use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::forrst {

enum class Extension : std::uint8_t { atomic_lock, deadline, idempotency, rate_limit, retry };

inline constexpr std::size_t extension_count = 5;

// "atomic-lock", "deadline", …: what a function's list of extensions has.
std::string_view name_of(Extension extension) noexcept;
std::optional<Extension> extension_named(std::string_view name);

// urn:cline:forrst:ext:atomic-lock, urn:forrst:ext:atomic-lock or urn:forrst:ext:atomicLock.
std::optional<Extension> known_extension(std::string_view urn);
// The first of these forms, for capabilities.
std::string urn_of(Extension extension);
// Every form.
std::vector<std::string> urns_of(Extension extension);

// Whether the text is a URN of the protocol with or without a vendor: "urn:acme:forrst:fn:pay".
bool is_urn(std::string_view text);
// What may be called: a URN, or words with dots between them ("payments.charge").
bool is_function_name(std::string_view text);
// Names that the protocol keeps for itself: "forrst.…", the vendor "cline", and no vendor at all.
bool is_reserved_function(std::string_view name);

}  // namespace holdfast::forrst
