// A driver for tests: the functions of cuda.h that are used, over memory of the host. It insists on
// what the real one insists on: a current context, handles of the right kind, and nothing left over.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#ifndef VERSION
#define VERSION 13000
#endif
#ifndef INIT
#define INIT 0
#endif
#ifndef RETAIN
#define RETAIN 0
#endif

namespace {
char context;
thread_local void* current = nullptr;
int lasting = 0;
bool started = false;
size_t used = 0;
const size_t MEMORY = 1 << 20;
std::set<void*> memory, host, modules, streams, events;

struct Call {
    uint32_t* words;
    uint32_t count, summand;
};

int enter() { return !started ? 3 : current != &context ? 201 : lasting; }
void* make(std::set<void*>& kind) {
    void* handle = std::malloc(8);
    kind.insert(handle);
    return handle;
}
int end(std::set<void*>& kind, void* handle) {
    if (int code = enter()) return code;
    if (!kind.erase(handle)) return 400;
    std::free(handle);
    return 0;
}
} // namespace

extern "C" {
int cuInit(unsigned) {
    started = INIT == 0;
    return INIT;
}
int cuDriverGetVersion(int* version) { return *version = VERSION, 0; }
int cuGetErrorName(int code, const char** text) { return *text = code == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : nullptr, 0; }
int cuGetErrorString(int, const char** text) { return *text = "what the driver says", 0; }
int cuDeviceGetCount(int* count) { return *count = 2, 0; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal + 10, 0; }
int cuDeviceGetName(char* name, int length, int device) {
    return std::strncpy(name, device == 10 ? "Fake Zero" : "Fake One", length), 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 97 ? 227 << 10 : 1000 + attribute;
    return 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int) { return *bytes = MEMORY, 0; }
int cuDevicePrimaryCtxRetain(void** made, int device) {
    if (device == 11 || RETAIN) return RETAIN ? RETAIN : 46;
    return *made = &context, 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
    // A lost device keeps what it had.
    if (!lasting && !(memory.empty() && host.empty() && modules.empty() && streams.empty() && events.empty())) std::abort();
    return 0;
}
int cuCtxSetCurrent(void* wanted) { return current = wanted, 0; }
int cuMemGetInfo_v2(size_t* free, size_t* total) { return *free = MEMORY - used, *total = MEMORY, enter(); }
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
    if (int code = enter()) return code;
    if (bytes == 0) return 1;
    if (used + bytes > MEMORY) return 2;
    size_t* block = static_cast<size_t*>(std::aligned_alloc(256, (bytes + 511) / 256 * 256));
    *block = bytes;
    used += bytes;
    memory.insert(block + 32);
    *address = reinterpret_cast<uint64_t>(block + 32);
    return 0;
}
int cuMemFree_v2(uint64_t address) {
    if (int code = enter()) return code;
    size_t* block = reinterpret_cast<size_t*>(address) - 32;
    if (!memory.erase(block + 32)) return 1;
    used -= *block;
    std::free(block);
    return 0;
}
int cuMemHostAlloc(void** pointer, size_t bytes, unsigned) {
    if (int code = enter()) return code;
    host.insert(*pointer = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
    return 0;
}
int cuMemFreeHost(void* pointer) { return end(host, pointer); }
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* stream) {
    if (int code = enter()) return code;
    return streams.count(stream) ? std::memcpy(reinterpret_cast<void*>(to), from, bytes), 0 : 400;
}
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* stream) {
    if (int code = enter()) return code;
    return streams.count(stream) ? std::memcpy(to, reinterpret_cast<void*>(from), bytes), 0 : 400;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void* stream) {
    if (int code = enter()) return code;
    return streams.count(stream) ? std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes), 0 : 400;
}
int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t bytes, void* stream) {
    if (int code = enter()) return code;
    return streams.count(stream) ? std::memset(reinterpret_cast<void*>(to), byte, bytes), 0 : 400;
}
int cuModuleLoadData(void** module, const void* image) {
    if (int code = enter()) return code;
    if (std::memcmp(image, "code", 4)) return 200;
    return *module = make(modules), 0;
}
int cuModuleUnload(void* module) { return end(modules, module); }
// A kernel's handle is what it does.
int cuModuleGetFunction(void** function, void* module, const char* name) {
    if (int code = enter()) return code;
    if (!modules.count(module)) return 400;
    std::string wanted = name;
    *function = reinterpret_cast<void*>(wanted == "add" ? 1 : wanted == "crash" ? 2 : 0);
    return *function ? 0 : 500;
}
int cuFuncGetAttribute(int* value, int attribute, void*) { return *value = 20 + attribute, enter(); }
int cuFuncSetAttribute(void*, int attribute, int value) {
    return attribute == 8 && value == (227 << 10) - 21 ? enter() : 1;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int block, size_t shared) {
    return *blocks = int((228 << 10) / (shared + block)), enter();
}
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void* stream, void** arguments, void** extra) {
    if (int code = enter()) return code;
    if (!streams.count(stream) || extra) return 400;
    if (gy != 1 || gz != 1 || by != 1 || bz != 1 || bx > 1024 || shared > 227 << 10) return 1;
    if (function == reinterpret_cast<void*>(2)) return lasting = 719, 0;
    Call call = *static_cast<Call*>(arguments[0]);
    for (uint32_t i = 0; i < gx * bx && i < call.count; i++) call.words[i] += call.summand;
    return 0;
}
int cuStreamCreate(void** stream, unsigned flags) {
    if (int code = enter()) return code;
    return flags == 1 ? *stream = make(streams), 0 : 1;
}
int cuStreamDestroy_v2(void* stream) { return end(streams, stream); }
int cuStreamSynchronize(void* stream) { return streams.count(stream) ? enter() : 400; }
int cuStreamWaitEvent(void* stream, void* event, unsigned) {
    return streams.count(stream) && events.count(event) ? enter() : 400;
}
int cuEventCreate(void** event, unsigned) {
    if (int code = enter()) return code;
    return *event = make(events), 0;
}
int cuEventDestroy_v2(void* event) { return end(events, event); }
int cuEventRecord(void* event, void* stream) { return streams.count(stream) && events.count(event) ? enter() : 400; }
int cuEventSynchronize(void* event) { return events.count(event) ? enter() : 400; }
#ifndef OLD
int cuEventElapsedTime(float* milliseconds, void* from, void* to) {
    *milliseconds = 2.5f;
    return events.count(from) && events.count(to) ? enter() : 400;
}
#endif
}
