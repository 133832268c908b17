/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the program has, for kernels: registered ranges of the heap, of mappings and of static memory, while the
 * kernel moves pages; and managed variables: host_memory WHAT. */
#include <fcntl.h>
#include <hip/hip_runtime.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

__managed__ int numbers[64] = {1, 2, 3};
static __managed__ double half = 0.5;
__managed__ float unused = 7;
__device__ int scale = 3;

__global__ void use_managed() {
    numbers[threadIdx.x] = numbers[threadIdx.x] * scale + int(2 * half);
    if (threadIdx.x == 0) half = 2.5;
}

__global__ void add(int* p, int value) { p[blockIdx.x * blockDim.x + threadIdx.x] += value; }

enum { STRIDE = 4096 };

/* Over and over, 64 ints of each STRIDE. */
__global__ void sweep(int* p, int n, int rounds) {
    for (int round = 0; round < rounds; ++round)
        for (int at = 0; at < n; at += STRIDE) p[at + threadIdx.x] += 1;
}

static unsigned wrong;

static void check(const char* what, bool good) {
    if (!good) printf("FAILED: %s\n", what);
    wrong += !good;
}

static void expect(const char* what, hipError_t found, hipError_t wanted = hipSuccess) {
    if (found != wanted) printf("%s: %s\n", what, hipGetErrorName(found));
    check(what, found == wanted);
}

static uint64_t frame_of(const void* at) {
    uint64_t entry = 0;
    const int map = open("/proc/self/pagemap", O_RDONLY);
    if (map < 0 || pread(map, &entry, 8, (uintptr_t)at / 4096 * 8) != 8) perror("pagemap");
    close(map);
    return entry & ((1ull << 55) - 1);
}

static bool is_row(const int* p, size_t n, int first) {
    for (size_t i = 0; i < n; ++i)
        if (p[i] != first + (int)i) return false;
    return true;
}

/* n ints from `p` on: contents stay, and kernels and copies reach them. n: a multiple of 64 */
static void use_registered(const char* where, int* p, size_t n) {
    int *there, *device;
    std::iota(p, p + n, 0);
    expect(where, hipHostRegister(p, n * sizeof *p, hipHostRegisterMapped));
    check("contents stay", is_row(p, n, 0));
    expect("its address on the device", hipHostGetDevicePointer(&there, p, 0));
    check("the host's, above the apertures", (uintptr_t)p < 0x80000000 || there == p);
    add<<<n / 64, 64>>>(there, 5);
    expect("wait", hipDeviceSynchronize());
    check("kernels write there", is_row(p, n, 5));
    expect("malloc", hipMalloc(&device, n * sizeof *p));
    expect("copy", hipMemcpy(device, p, n * sizeof *p, hipMemcpyHostToDevice));
    add<<<n / 64, 64>>>(device, 1);
    expect("copy back, by the device's address", hipMemcpy(there, device, n * sizeof *p, hipMemcpyDefault));
    check("copies are right", is_row(p, n, 6));
    expect("part of it again", hipHostRegister(p + 1, 4, 0), hipErrorHostMemoryAlreadyRegistered);
    expect("unregister", hipHostUnregister(p));
    check("contents stay again", is_row(p, n, 6));
    expect("unregister again", hipHostUnregister(p), hipErrorHostMemoryNotRegistered);
    add<<<1, 64>>>(there, 1);
    expect("a kernel finds nothing there", hipDeviceSynchronize(), hipErrorIllegalAddress);
    p[0] = 77;
    check("nothing reaches it any more", p[0] == 77);
    expect("free", hipFree(device));
}

static int fixed[4096];

static void registered() {
    int on_stack[64], *there;
    char* neighbour = (char*)malloc(100);
    strcpy(neighbour, "a neighbour in the heap");
    std::vector<int> small(1024), large(1 << 20);
    use_registered("in the heap", small.data(), small.size());
    use_registered("in a mapping", large.data() + 13, 3 << 18);
    use_registered("static", fixed, 4096);
    // Two ranges of one page.
    expect("one", hipHostRegister(small.data(), 64, 0));
    expect("one beside it", hipHostRegister(small.data() + 64, 256, 0));
    expect("the first goes", hipHostUnregister(small.data()));
    small[64] = 5;
    expect("its address", hipHostGetDevicePointer(&there, &small[64], 0));
    add<<<1, 64>>>(there, 4);
    expect("wait", hipDeviceSynchronize());
    check("the other stays", small[64] == 9);
    std::vector<std::string> more;  // the heap grows and shrinks around it
    for (int i = 0; i < 20000; ++i) more.push_back("text number " + std::to_string(i));
    check("the heap", more[19999] == "text number 19999" && !strcmp(neighbour, "a neighbour in the heap"));
    more.clear();
    more.shrink_to_fit();
    expect("the second goes", hipHostUnregister(&small[64]));
    check("contents", small[64] == 9 && !strcmp(neighbour, "a neighbour in the heap"));
    free(neighbour);
    expect("the stack", hipHostRegister(on_stack, sizeof on_stack, 0), hipErrorNotSupported);
    expect("code", hipHostRegister((void*)registered, 4, 0), hipErrorNotSupported);
    expect("nothing", hipHostRegister(nullptr, 4, 0), hipErrorInvalidValue);
    expect("registers of devices", hipHostRegister(fixed, 4, 4), hipErrorNotSupported);
    expect("more than there is", hipHostRegister(large.data(), 1ull << 40, 0), hipErrorNotSupported);
    std::vector<char> huge(80 << 20, 1);
    expect("more than the broker has", hipHostRegister(huge.data(), huge.size(), 0), hipErrorOutOfMemory);
    check("it stays as it was", huge[0] == 1 && huge.back() == 1);
    use_registered("then", large.data(), 1 << 16);
}

/* Pages all over the memory, and free ones between them: the kernel has something to compact. */
static std::vector<char*> fragments() {
    enum { PAGE = 4096, PAGES = 32768, KEPT = 4 };
    std::vector<char*> kept;
    char* all = (char*)mmap(nullptr, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(all, PAGES * PAGE, MADV_NOHUGEPAGE);
    for (int i = 0; i < PAGES; ++i) memset(all + i * PAGE, i / KEPT, 8);
    for (int i = 0; i < PAGES; i += KEPT) {
        kept.push_back(all + i * PAGE);
        madvise(all + (i + 1) * PAGE, (KEPT - 1) * PAGE, MADV_DONTNEED);
    }
    return kept;
}

static void compact() {
    const int file = open("/proc/sys/vm/compact_memory", O_WRONLY);
    if (file < 0 || write(file, "1", 1) != 1) perror("compact_memory");
    close(file);
}

/* While a kernel reads and writes, from before the kernel compacts its memory until after it has. */
static void compaction() {
    enum { N = 1 << 20, ROUNDS = 200 };
    std::vector<int> data(N);
    const std::vector<char*> others = fragments();
    std::iota(data.begin(), data.end(), 0);
    expect("register", hipHostRegister(data.data(), N * sizeof(int), hipHostRegisterMapped));
    std::vector<uint64_t> own, before;
    for (int i = 0; i < N; i += 1024) own.push_back(frame_of(&data[i]));
    for (const char* p : others) before.push_back(frame_of(p));
    sweep<<<1, 64>>>(data.data(), N, ROUNDS);
    check("it runs before", hipStreamQuery(nullptr) == hipErrorNotReady);
    compact();
    check("it runs after", hipStreamQuery(nullptr) == hipErrorNotReady);
    expect("wait", hipDeviceSynchronize());
    unsigned moved = 0, own_moved = 0, right = 0;
    for (size_t i = 0; i < others.size(); ++i) moved += frame_of(others[i]) != before[i];
    for (size_t i = 0; i < own.size(); ++i) own_moved += frame_of(&data[i * 1024]) != own[i];
    for (size_t i = 0; i < others.size(); ++i) check("other pages", others[i][7] == char(i));
    expect("unregister", hipHostUnregister(data.data()));
    for (int i = 0; i < N; ++i) right += data[i] == i + (i % STRIDE < 64 ? ROUNDS : 0);
    check("what it wrote, and all else", right == N);
    printf("%u of %zu pages moved, %u of %zu registered ones\n", moved, others.size(), own_moved, own.size());
}

static void managed() {
    int copy[3], *at;
    check("they begin as the source says", numbers[2] == 3 && numbers[3] == 0 && half == 0.5 && unused == 7);
    numbers[1] = 20;
    use_managed<<<1, 64>>>();
    expect("wait", hipDeviceSynchronize());
    check("what kernels wrote", numbers[0] == 4 && numbers[1] == 61 && numbers[2] == 10 && numbers[63] == 1);
    check("of a static one", half == 2.5);
    use_managed<<<1, 64>>>();
    expect("wait", hipDeviceSynchronize());
    check("and again", numbers[0] == 17);
    expect("from the symbol", hipMemcpyFromSymbol(copy, numbers, sizeof copy));
    check("what it has", copy[0] == 17 && copy[2] == 35);
    copy[0] = 9;
    expect("to the symbol", hipMemcpyToSymbol(numbers, copy, sizeof copy));
    expect("its address", hipGetSymbolAddress((void**)&at, numbers));
    check("the host's", at == numbers && numbers[0] == 9);
    add<<<1, 64>>>(numbers, 1);
    expect("wait", hipDeviceSynchronize());
    check("by its address", numbers[0] == 10);
}

int main(int, char** argv) {
    const std::string what = argv[1];
    if (what == "registered") registered();
    if (what == "compaction") compaction();
    if (what == "managed") managed();
    printf("%u wrong\n", wrong);
    return wrong != 0;
}
