// SPDX-License-Identifier: Apache-2.0
//
// What a reply says, in the words of its reader.
#include <holdfast/forrst/client.hpp>

#include <algorithm>
#include <charconv>

namespace holdfast::forrst {

namespace {

namespace json = boost::json;

// "urn:forrst:ext:atomicLock" and "urn:acme:forrst:ext:atomic-lock" are both "atomic-lock".
std::string name_in(std::string_view urn) {
  constexpr std::string_view mark = "forrst:ext:";
  const auto at = urn.find(mark);
  if (at == std::string_view::npos) return {};
  std::string name;
  for (const char each : urn.substr(at + mark.size())) {
    const bool begins_word = each >= 'A' && each <= 'Z';
    if (begins_word) name.push_back('-');
    name.push_back(begins_word ? static_cast<char>(each - 'A' + 'a') : each);
  }
  return name;
}

std::string string_in(const json::object& data, std::string_view member) {
  const auto* const found = data.if_contains(member);
  const auto* const text = found != nullptr ? found->if_string() : nullptr;
  return text != nullptr ? std::string(*text) : std::string();
}

// A number, or its digits: not every reader of JSON has 64 bits.
Fence fence_in(const json::object& data) {
  const auto* const found = data.if_contains("fence");
  if (found == nullptr) return 0;
  if (const auto* const text = found->if_string()) {
    Fence fence = 0;
    const auto [end, failed] = std::from_chars(text->begin(), text->end(), fence);
    return failed == std::errc() && end == text->end() ? fence : 0;
  }
  json::error_code failed;
  const auto fence = found->to_number<Fence>(failed);
  return failed ? 0 : fence;
}

}  // namespace

bool CallReply::has(std::string_view code) const {
  return std::ranges::find(faults, code, &Fault::code) != faults.end();
}

const json::object* CallReply::extension(std::string_view name) const {
  const auto found = std::ranges::find_if(
      extensions, [&](const ExtensionCall& each) { return name_in(each.urn) == name; });
  return found != extensions.end() ? &found->options : nullptr;
}

std::optional<LockData> CallReply::lock() const {
  const auto* const data = extension("atomic-lock");
  if (data == nullptr) return std::nullopt;
  const auto* const acquired = data->if_contains("acquired");
  return LockData{.key = string_in(*data, "key"),
                  .acquired = acquired != nullptr && acquired->is_bool() && acquired->get_bool(),
                  .owner = string_in(*data, "owner"),
                  .scope = string_in(*data, "scope"),
                  .expires_at = string_in(*data, "expires_at"),
                  .fence = fence_in(*data)};
}

}  // namespace holdfast::forrst
