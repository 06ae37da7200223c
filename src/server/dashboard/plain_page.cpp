// SPDX-License-Identifier: Apache-2.0
#include "server/dashboard/files.hpp"

namespace holdfast::server {

const WebFile plain_page{.path = "index.html",
                         .content_type = "text/html; charset=utf-8",
                         .plain = R"(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Holdfast</title>
<h1>Holdfast</h1>
<p>This server was built without its dashboard. Everything it knows is there all the same:</p>
<ul>
<li><a href="v1/locks">v1/locks</a>: who holds what, and who waits</li>
<li><a href="v1/contention">v1/contention</a>: which locks are waited for longest</li>
<li><a href="v1/deadlocks">v1/deadlocks</a>: waits that go round in a circle</li>
<li><a href="v1/stats">v1/stats</a> and <a href="metrics">metrics</a>: how it is going</li>
<li><a href="docs">docs</a>: every call</li>
</ul>
<p>In a terminal, <code>holdfast watch</code> shows all locks, live.</p>
</html>
)",
                         .gzip = {}};

}  // namespace holdfast::server
