// SPDX-License-Identifier: Apache-2.0
//
// The files of the dashboard, compiled into the program: web/ builds them, cmake/Web.cmake brings
// them here. There are none in a build without it (HOLDFAST_NO_WEB).
#pragma once

#include <span>
#include <string_view>

namespace holdfast::server {

struct WebFile {
  std::string_view path;  // "index.html", "assets/index-3f2a.js"
  std::string_view content_type;
  std::string_view plain;
  std::string_view gzip;
};

std::span<const WebFile> web_files();

// What is shown instead of index.html where there is none.
extern const WebFile plain_page;

}  // namespace holdfast::server
