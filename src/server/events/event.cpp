// SPDX-License-Identifier: Apache-2.0
#include "server/events/event.hpp"

#include "text/json.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

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
        .holder = event_.metadata.get(),
        .party = event_.party,
        .remaining = event_.remaining,
        .waited = event_.waited,
        .held = event_.held}));
  });
  return json_;
}

const std::string& PublishedEvent::frame() const {
  std::call_once(framed_, [this] {
    frame_ =
        fmt::format("id: {}\nevent: {}\ndata: {}\n\n", id_, text::to_word(event_.type), json());
  });
  return frame_;
}

}  // namespace holdfast::server
