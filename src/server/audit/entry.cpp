// SPDX-License-Identifier: Apache-2.0
#include "server/audit/entry.hpp"

#include <boost/json/object.hpp>

namespace holdfast::server {

boost::json::object to_json(const AuditEntry& entry, std::uint64_t seq) {
  boost::json::object out{{"seq", seq}, {"at", text::format_time(entry.at)}, {"what", entry.what}};
  const auto put = [&out](std::string_view key, const std::string& text) {
    if (!text.empty()) out[key] = text;
  };
  put("name", entry.name);
  if (entry.fence) out["fence"] = *entry.fence;
  put("principal", entry.principal);
  put("client", entry.client);
  put("reason", entry.reason);
  put("request_id", entry.request_id);
  return out;
}

}  // namespace holdfast::server
