/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: nodes that were added, or captured from streams, in the order in which that happened. What a node depends on
 * stands before it, so a launch adds them to its stream one after the other. */
#include "lib/heap.h"
#include "runtime/hip/hip.h"

struct hip_node {
    enum { NODE_EMPTY, NODE_KERNEL, NODE_COPY, NODE_SET, NODE_CALL } kind;
    struct hip_node* next;
    const struct compute_kernel* kernel;
    struct compute_grid grid;
    void *to, *data; /* data: of functions */
    const void* from;
    size_t bytes, width;
    hipMemcpyKind direction;
    uint32_t value;
    hipHostFn_t function;
    uint8_t arguments[]; /* of a kernel */
};
/* Shared by a graph and what was made of it, which has the first `count`. */
struct hip_nodes {
    unsigned holders, count;
    struct hip_node *first, **end;
};
struct ihipGraph_t {
    struct handle handle;
    struct hip_nodes* nodes;
};
struct hipGraphExec {
    struct handle handle;
    struct hip_nodes* nodes;
    unsigned count;
};
static const char graph_kind[] = "hipGraph_t", exec_kind[] = "hipGraphExec_t";

static void release(struct hip_nodes* nodes) {
    if (--nodes->holders) return;
    while (nodes->first) {
        struct hip_node* n = nodes->first;
        nodes->first = n->next;
        heap_free(n);
    }
    heap_free(nodes);
}

static struct hip_node* add(hipGraph_t graph, struct hip_node node, uint64_t argument_bytes) {
    struct hip_node* n = heap_allocate(sizeof *n + argument_bytes);
    if (!n) return NULL;
    *n = node;
    *graph->nodes->end = n;
    graph->nodes->end = &n->next;
    ++graph->nodes->count;
    return n;
}

static hipError_t added(const struct hip_node* node) { return node ? hipSuccess : hip_result(hipErrorOutOfMemory); }

static struct hip_node* add_kernel(hipGraph_t graph, const struct compute_kernel* kernel,
                                   const struct compute_grid* grid, const void* arguments) {
    const uint32_t bytes = kernel->info->argument_bytes;
    struct hip_node* n = add(graph, (struct hip_node){.kind = NODE_KERNEL, .kernel = kernel, .grid = *grid}, bytes);
    if (n) memcpy(n->arguments, arguments, bytes);
    return n;
}

/* ---- what streams are asked for while they capture ---- */

hipError_t hip_capture_kernel(hipGraph_t graph, const struct compute_kernel* kernel, const struct compute_grid* grid,
                              const void* arguments) {
    return added(add_kernel(graph, kernel, grid, arguments));
}

hipError_t hip_capture_copy(hipGraph_t graph, void* to, const void* from, size_t bytes, hipMemcpyKind kind) {
    const struct hip_node n = {.kind = NODE_COPY, .to = to, .from = from, .bytes = bytes, .direction = kind};
    return added(add(graph, n, 0));
}

hipError_t hip_capture_set(hipGraph_t graph, void* memory, uint32_t value, size_t width, size_t bytes) {
    const struct hip_node n = {.kind = NODE_SET, .to = memory, .value = value, .width = width, .bytes = bytes};
    return added(add(graph, n, 0));
}

hipError_t hip_capture_call(hipGraph_t graph, hipHostFn_t function, void* data) {
    return added(add(graph, (struct hip_node){.kind = NODE_CALL, .function = function, .data = data}, 0));
}

/* ---- nodes by themselves ---- */

static bool are_nodes(hipGraph_t graph, const hipGraphNode_t* nodes, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const struct hip_node* n = graph->nodes->first;
        while (n && n != nodes[i]) n = n->next;
        if (!n) return false;
    }
    return true;
}

static hipError_t check(const hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* after, size_t count) {
    if (!handle_is(graph, graph_kind)) return hip_result(hipErrorInvalidHandle);
    return node && (after || !count) && are_nodes(graph, after, count) ? hipSuccess : hip_result(hipErrorInvalidValue);
}

hipError_t hipGraphAddEmptyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* after, size_t count) {
    const hipError_t error = check(node, graph, after, count);
    return error ? error : added(*node = add(graph, (struct hip_node){.kind = NODE_EMPTY}, 0));
}

hipError_t hipGraphAddKernelNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* after, size_t count,
                                 const hipKernelNodeParams* p) {
    const struct compute_kernel* kernel = NULL;
    struct compute_grid grid;
    const uint8_t* arguments;
    hipError_t error = check(node, graph, after, count);
    if (!error && !p) error = hip_result(hipErrorInvalidValue);
    if (!error) error = hip_kernel_of(p->func, &kernel);
    if (error) return error;
    error = hip_check_launch(kernel, p->gridDim, p->blockDim, p->sharedMemBytes, p->kernelParams, p->extra, &grid,
                             &arguments);
    return error ? error : added(*node = add_kernel(graph, kernel, &grid, arguments));
}

hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* after, size_t count,
                                   void* to, const void* from, size_t bytes, hipMemcpyKind kind) {
    const hipError_t error = check(node, graph, after, count);
    if (error) return error;
    if (!to || !from || (unsigned)kind > hipMemcpyDefault) return hip_result(hipErrorInvalidValue);
    const struct hip_node n = {.kind = NODE_COPY, .to = to, .from = from, .bytes = bytes, .direction = kind};
    return added(*node = add(graph, n, 0));
}

hipError_t hipGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* after, size_t count,
                                 const hipMemsetParams* p) {
    const hipError_t error = check(node, graph, after, count);
    if (error) return error;
    if (!p || !p->dst || p->height != 1 || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
        return hip_result(hipErrorInvalidValue);
    const struct hip_node n = {
        .kind = NODE_SET, .to = p->dst, .value = p->value, .width = p->elementSize, .bytes = p->width * p->elementSize};
    return added(*node = add(graph, n, 0));
}

hipError_t hipGraphAddHostNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* after, size_t count,
                               const hipHostNodeParams* p) {
    const hipError_t error = check(node, graph, after, count);
    if (error) return error;
    if (!p || !p->fn) return hip_result(hipErrorInvalidValue);
    return added(*node = add(graph, (struct hip_node){.kind = NODE_CALL, .function = p->fn, .data = p->userData}, 0));
}

/* ---- graphs ---- */

hipError_t hipGraphCreate(hipGraph_t* graph, unsigned int flags) {
    if (!graph || flags) return hip_result(hipErrorInvalidValue);
    struct hip_nodes* nodes = heap_allocate(sizeof *nodes);
    *graph = nodes ? handle_create(graph_kind, sizeof **graph) : NULL;
    if (!*graph) {
        heap_free(nodes);
        return hip_result(hipErrorOutOfMemory);
    }
    *nodes = (struct hip_nodes){.holders = 1, .end = &nodes->first};
    (*graph)->nodes = nodes;
    return hipSuccess;
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
    if (!handle_is(graph, graph_kind)) return hip_result(hipErrorInvalidHandle);
    release(graph->nodes);
    handle_destroy(graph);
    return hipSuccess;
}

hipError_t hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* error_node, char* log,
                               size_t log_bytes) {
    if (!exec) return hip_result(hipErrorInvalidValue);
    if (!handle_is(graph, graph_kind)) return hip_result(hipErrorInvalidHandle);
    if (error_node) *error_node = NULL;
    if (log && log_bytes) *log = '\0';
    *exec = handle_create(exec_kind, sizeof **exec);
    if (!*exec) return hip_result(hipErrorOutOfMemory);
    (*exec)->nodes = graph->nodes;
    (*exec)->count = graph->nodes->count;
    ++graph->nodes->holders;
    return hipSuccess;
}

hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
    if (!handle_is(exec, exec_kind)) return hip_result(hipErrorInvalidHandle);
    release(exec->nodes);
    handle_destroy(exec);
    return hipSuccess;
}

static hipError_t run(const struct hip_node* n, hipStream_t stream) {
    switch (n->kind) {
        case NODE_KERNEL: /* unless its module was unloaded */
            return handle_is(n->kernel, hip_function_kind) ? hip_launch(n->kernel, &n->grid, n->arguments, stream)
                                                           : hip_result(hipErrorInvalidHandle);
        case NODE_COPY: return hipMemcpyAsync(n->to, n->from, n->bytes, n->direction, stream);
        case NODE_SET: return hip_set(n->to, n->value, n->width, n->bytes, stream);
        case NODE_CALL: return hipLaunchHostFunc(stream, n->function, n->data);
        default: return hipSuccess;
    }
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
    if (!handle_is(exec, exec_kind)) return hip_result(hipErrorInvalidHandle);
    const struct hip_node* n = exec->nodes->first;
    hipError_t error = hipSuccess;
    for (unsigned i = 0; i < exec->count && !error; ++i, n = n->next) error = run(n, stream);
    return error;
}

/* ---- capture ---- */

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
    if ((unsigned)mode > hipStreamCaptureModeRelaxed) return hip_result(hipErrorInvalidValue);
    if (!stream) return hip_result(hipErrorStreamCaptureUnsupported);
    if (!handle_is(stream, hip_stream_kind)) return hip_result(hipErrorInvalidHandle);
    if (stream->graph) return hip_result(hipErrorIllegalState);
    const hipError_t error = hipGraphCreate(&stream->graph, 0);
    if (!error) hip_begin_capture(stream);
    return error;
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
    if (!graph) return hip_result(hipErrorInvalidValue);
    if (!stream || !handle_is(stream, hip_stream_kind)) return hip_result(hipErrorInvalidHandle);
    if (!stream->graph || !stream->captures) return hip_result(hipErrorIllegalState);
    *graph = stream->graph;
    hip_end_capture(stream->graph);
    return hipSuccess;
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
    if (!status) return hip_result(hipErrorInvalidValue);
    if (stream && !handle_is(stream, hip_stream_kind)) return hip_result(hipErrorInvalidHandle);
    *status = stream && stream->graph ? hipStreamCaptureStatusActive : hipStreamCaptureStatusNone;
    return hipSuccess;
}
