// Which symbols the shared library shows. Everything else is hidden.
#pragma once

#if defined(_WIN32)
#define SHERD_API
#else
#define SHERD_API __attribute__((visibility("default")))
#endif
