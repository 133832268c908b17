/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the GPU in the address space of the process, where the kernel has pages for it: what host, GPU and adapter
 * see there, what is refused, and what an end leaves behind. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <hip/hip_runtime.h>
#include <infiniband/verbs.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define EXPECT(condition) \
    if (!(condition)) fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #condition, errno), exit(1)

__global__ void add(uint64_t* data, int n, uint64_t what) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] += what;
}

static ibv_pd* domain() {
    ibv_device** list = ibv_get_device_list(nullptr);
    ibv_context* context = ibv_open_device(list[0]);
    EXPECT(context);
    return ibv_alloc_pd(context);
}

/* In pages of both sizes. */
static void host_and_gpu_see_the_same(int n) {
    uint64_t* data;
    EXPECT(hipMalloc(&data, n * sizeof *data) == hipSuccess);
    for (int i = 0; i < n; i += 100) data[i] = i;
    add<<<(n + 255) / 256, 256>>>(data, n, 5);
    EXPECT(hipDeviceSynchronize() == hipSuccess);
    for (int i = 0; i < n; i += 100) EXPECT(data[i] == uint64_t(i) + 5);
    EXPECT(hipFree(data) == hipSuccess);
}

static void only_what_is_allocated_is_registered(ibv_pd* pd) {
    const size_t bytes = 3 * 4096;
    char* data;
    EXPECT(hipMalloc(&data, bytes) == hipSuccess);
    ibv_mr* region = ibv_reg_mr(pd, data, bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    EXPECT(region);
    EXPECT(!ibv_reg_mr(pd, data, bytes + 4096, IBV_ACCESS_LOCAL_WRITE));
    EXPECT(ibv_dereg_mr(region) == 0 && hipFree(data) == hipSuccess);
    EXPECT(!ibv_reg_mr(pd, data, bytes, IBV_ACCESS_LOCAL_WRITE) && errno == EFAULT);
}

static void the_device_refuses() {
    glob_t found;
    EXPECT(glob("/dev/peer_memory-*", 0, nullptr, &found) == 0 && found.gl_pathc == 1);
    const int file = open(found.gl_pathv[0], O_RDWR);
    const off_t bytes = lseek(file, 0, SEEK_END);
    EXPECT(file >= 0 && bytes == off_t(4) << 30);
    EXPECT(mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED && errno == EINVAL);
    EXPECT(mmap(nullptr, 8192, PROT_READ, MAP_SHARED, file, bytes - 4096) == MAP_FAILED && errno == EINVAL);
    EXPECT(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, bytes) == MAP_FAILED && errno == EINVAL);
    EXPECT(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, bytes - 4096) != MAP_FAILED);
    close(file);
}

static void the_kernel_does_not_complain() {
    static char text[1 << 18];
    EXPECT(klogctl(3, text, sizeof text - 1) > 0); /* read all */
    for (const char* word : {"BUG", "WARNING", "Oops", "bad page"})
        if (strstr(text, word)) fprintf(stderr, "the kernel's log has '%s'\n", word), exit(1);
}

int main(int argc, char**) {
    ibv_pd* pd = domain();
    if (argc > 1) { /* ends with memory that the adapter still has */
        char* data;
        EXPECT(hipMalloc(&data, 5 << 20) == hipSuccess);
        EXPECT(ibv_reg_mr(pd, data, 5 << 20, IBV_ACCESS_LOCAL_WRITE));
        abort();
    }
    host_and_gpu_see_the_same(1000);
    host_and_gpu_see_the_same(1 << 19);
    only_what_is_allocated_is_registered(pd);
    the_device_refuses();
    the_kernel_does_not_complain();
    printf("good\n");
    return 0;
}
