// SPDX-License-Identifier: Apache-2.0
// Precompiled for the tests. A speed-up only: every file still includes what it uses.
#pragma once

#include <holdfast/client.hpp>

#include "client/core.hpp"
#include "pch.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
