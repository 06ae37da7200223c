# SPDX-License-Identifier: Apache-2.0
# The Code nodes of src/n8n/code as string literals: n8n/code_files.hpp.

include(cmake/Embed.cmake)
holdfast_embed(n8n_code_literals "${PROJECT_SOURCE_DIR}/src/n8n/code" js)
configure_file(cmake/n8n_code_files.hpp.in generated/n8n/code_files.hpp @ONLY)
