// SPDX-License-Identifier: Apache-2.0
#include "server/openapi/page.hpp"

#include "server/openapi/schema_text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include <cctype>
#include <iterator>

namespace holdfast::server {

namespace json = boost::json;

namespace {

constexpr std::string_view style = R"(
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;
  color:#1b1f24;background:#fff}
h1,h2,h3{line-height:1.2}h2{margin-top:3rem;border-bottom:1px solid #d0d7de}h3{margin-top:2.5rem}
code,pre{font:14px/1.4 ui-monospace,monospace}
pre{background:#f3f5f7;padding:.7rem;overflow-x:auto}
table{border-collapse:collapse;margin:.5rem 0;width:100%}
td{border-top:1px solid #e3e7eb;padding:.3rem .6rem .3rem 0;vertical-align:top}
td:first-child{white-space:nowrap}
i{color:#6b7580}a,b{color:#0b5cad}nav a{margin-right:1rem}
@media(prefers-color-scheme:dark){body{color:#dfe4e9;background:#14181c}
  pre{background:#20262c}td,h2{border-color:#343c44}a,b{color:#6cb0f5}}
)";

// One route: what is needed of the document to write about it.
struct Operation {
  const json::object& document;
  std::string method;
  std::string_view path;
  const json::object& about;
};

std::string in_capitals(std::string_view word) {
  std::string out(word);
  for (char& each : out) each = static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
  return out;
}

template <typename Use>
void for_each_parameter(const Operation& operation, Use use) {
  const auto* parameters = operation.about.if_contains("parameters");
  if (parameters == nullptr) return;
  for (const auto& each : parameters->as_array()) {
    use(resolved(operation.document, each.as_object()));
  }
}

const json::object* body_of(const Operation& operation) {
  const auto* body = operation.about.if_contains("requestBody");
  if (body == nullptr) return nullptr;
  return &body->at("content").at("application/json").as_object();
}

std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char each : text) {
    if (each == '\'')
      out += "'\\''";
    else
      out += each;
  }
  return out + "'";
}

// The path with its examples, and behind it the parameters that must be given.
std::string curl_of(const Operation& operation) {
  std::string target(operation.path);
  std::string query;
  std::string headers;
  for_each_parameter(operation, [&](const json::object& parameter) {
    const auto name = text_of(parameter, "name");
    const auto example = text_of(parameter, "example");
    if (example.empty()) return;
    if (text_of(parameter, "in") == "path") {
      const auto slot = fmt::format("{{{}}}", name);
      target.replace(target.find(slot), slot.size(), example);
    } else if (text_of(parameter, "in") == "header") {
      headers += " -H " + in_quotes(fmt::format("{}: {}", name, example));
    } else {
      query += fmt::format("{}{}={}", query.empty() ? "?" : "&", name, example);
    }
  });
  const auto server = text_of(operation.document.at("servers").at(0).as_object(), "url");
  const auto verb = operation.method == "GET" ? "" : fmt::format("-X {} ", operation.method);
  auto line = fmt::format("curl {}{}{}{}{}", verb, server, target, query, headers);
  const auto* body = body_of(operation);
  if (body == nullptr || !body->contains("example")) return line;
  return fmt::format("{} -H 'Content-Type: application/json' \\\n  -d {}", line,
                     in_quotes(json::serialize(body->at("example"))));
}

std::string parameters_of(const Operation& operation) {
  std::string rows;
  for_each_parameter(operation, [&](const json::object& parameter) {
    fmt::format_to(std::back_inserter(rows),
                   "<tr><td><code>{}</code> <i>{}</i></td><td>{}</td><td>{}</td></tr>",
                   escaped(text_of(parameter, "name")), escaped(text_of(parameter, "in")),
                   type_of(parameter.at("schema").as_object()),
                   prose(text_of(parameter, "description")));
  });
  return rows.empty() ? rows : "<table>" + rows + "</table>";
}

std::string answers_of(const Operation& operation) {
  std::string out = "<table>";
  for (const auto& each : operation.about.at("responses").as_object()) {
    const auto& response = resolved(operation.document, each.value().as_object());
    std::string type;
    if (const auto* content = response.if_contains("content")) {
      type = type_of(content->as_object().begin()->value().at("schema").as_object());
    }
    fmt::format_to(std::back_inserter(out), "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
                   escaped(each.key()), type, prose(text_of(response, "description")));
  }
  return out + "</table>";
}

std::string verb_of(const Operation& operation) {
  const auto& security = operation.about.at("security").as_array();
  if (security.empty()) return "<i>without a token</i>";
  return fmt::format("<i>needs the verb</i> <code>{}</code>",
                     escaped(security.at(0).at("token").at(0).as_string()));
}

std::string section_of(const Operation& operation) {
  const auto& about = operation.about;
  std::string out = fmt::format("<h3 id=\"{}\"><b>{}</b> <code>{}</code></h3><p>{} {}<br>{}</p>",
                                escaped(text_of(about, "operationId")), operation.method,
                                escaped(operation.path), prose(text_of(about, "summary")),
                                prose(text_of(about, "description")), verb_of(operation));
  out += fmt::format("<pre>{}</pre>", escaped(curl_of(operation)));
  out += parameters_of(operation);
  if (const auto* body = body_of(operation)) {
    out += fields_of(resolved(operation.document, body->at("schema").as_object()));
  }
  return out + answers_of(operation);
}

std::string routes_of(const json::object& document, std::string_view tag) {
  std::string out;
  for (const auto& path : document.at("paths").as_object()) {
    for (const auto& method : path.value().as_object()) {
      const Operation operation{document, in_capitals(method.key()), path.key(),
                                method.value().as_object()};
      if (std::string_view(operation.about.at("tags").at(0).as_string()) != tag) continue;
      out += section_of(operation);
    }
  }
  return out;
}

std::string schemas_of(const json::object& document) {
  std::string out = "<h2 id=\"schemas\">Schemas</h2>";
  for (const auto& each : document.at("components").at("schemas").as_object()) {
    const auto& schema = each.value().as_object();
    const auto fields = fields_of(schema);
    fmt::format_to(std::back_inserter(out), "<h3 id=\"{0}\">{0}</h3><p>{1}{2}</p>{3}",
                   escaped(each.key()), fields.empty() ? type_of(schema) + ". " : std::string(),
                   prose(text_of(schema, "description")), fields);
  }
  return out;
}

}  // namespace

std::string page_of(const json::object& document) {
  const auto& info = document.at("info").as_object();
  const auto title =
      escaped(fmt::format("{} {}", text_of(info, "title"), text_of(info, "version")));
  std::string contents;
  std::string sections;
  for (const auto& each : document.at("tags").as_array()) {
    const auto name = text_of(each.as_object(), "name");
    fmt::format_to(std::back_inserter(contents), "<a href=\"#tag-{0}\">{0}</a>", escaped(name));
    fmt::format_to(std::back_inserter(sections), "<h2 id=\"tag-{0}\">{0}</h2><p>{1}</p>{2}",
                   escaped(name), prose(text_of(each.as_object(), "description")),
                   routes_of(document, name));
  }
  return fmt::format(
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>"
      "<meta name=\"viewport\" content=\"width=device-width\"><style>{1}</style></head><body>"
      "<h1>{0}</h1><p>{2}</p><p>{3}</p><nav>{4}<a href=\"#schemas\">Schemas</a>"
      "<a href=\"/openapi.json\">openapi.json</a></nav>{5}{6}</body></html>\n",
      title, style, prose(text_of(info, "summary")), prose(text_of(info, "description")), contents,
      sections, schemas_of(document));
}

}  // namespace holdfast::server
