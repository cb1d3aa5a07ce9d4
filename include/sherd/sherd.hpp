// Everything a program needs: arrays and groups, stores, values by id, options, tools.
#pragma once

#include "sherd/array.hpp"
#include "sherd/box.hpp"
#include "sherd/draft2022.hpp"
#include "sherd/dtype.hpp"
#include "sherd/group.hpp"
#include "sherd/json.hpp"
#include "sherd/neuroglancer.hpp"
#include "sherd/options.hpp"
#include "sherd/precomputed.hpp"
#include "sherd/result.hpp"
#include "sherd/sharded_build.hpp"
#include "sherd/sharded_store.hpp"
#include "sherd/store.hpp"
#include "sherd/tools.hpp"
#include "sherd/version.hpp"
#include "sherd/view.hpp"
