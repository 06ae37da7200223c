// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace holdfast::n8n {

// The id of a node: a UUID (version 5) made of the workflow's name and a word for the node. The
// same words give the same id, so a workflow that is written again changes nothing but what has
// changed, in version control as in n8n; random ones would make a new workflow of it every time.
// Two environments have different names, and hence different ids, which matters for webhooks.
std::string uuid_of(std::string_view workflow, std::string_view slug);

}  // namespace holdfast::n8n
