// SPDX-License-Identifier: Apache-2.0
// The one translation unit that compiles Asio's TLS; everyone else includes only its declarations.
#include <boost/asio/ssl/impl/src.hpp>
