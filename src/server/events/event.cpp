// SPDX-License-Identifier: Apache-2.0
#include "server/events/event.hpp"

#include <boost/json/serialize.hpp>

namespace holdfast::server {

const std::string& PublishedEvent::json() const {
  std::call_once(formatted_, [this] {
    json_ = boost::json::serialize(text::to_json(text::EventFields{
        .id = id_,
        .type = event_.type,
        .name = event_.name,
        .at = event_.at,
        .fence = event_.fence,
        .reason = event_.reason,
        .source = event_.source,
        .principal = event_.source == EventSource::server ? event_.principal : std::string_view(),
        .kind = event_.kind,
        .permits = event_.permits,
        .holder = event_.metadata.get()}));
  });
  return json_;
}

}  // namespace holdfast::server
