/* SPDX-License-Identifier: Apache-2.0 */
/* Breadth-first search with a mask of nodes and a flag that stops the loop, as CUDA programs of long ago have it:
 * traverse NODES. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>

#define MAX_THREADS_PER_BLOCK 256
#define CUDA_SAFE_CALL(call)                                                                     \
    {                                                                                            \
        cudaError err = call;                                                                    \
        if (cudaSuccess != err) {                                                                \
            fprintf(stderr, "error in '%s' line %i: %s.\n", __FILE__, __LINE__, cudaGetErrorString(err)); \
            exit(EXIT_FAILURE);                                                                  \
        }                                                                                        \
    }

struct Node {
    int starting;
    int no_of_edges;
};

__global__ void Expand(Node* g_nodes, int* g_edges, bool* g_mask, bool* g_updating, bool* g_visited, int* g_cost,
                       int no_of_nodes) {
    int tid = blockIdx.x * MAX_THREADS_PER_BLOCK + threadIdx.x;
    if (tid < no_of_nodes && g_mask[tid]) {
        g_mask[tid] = false;
        for (int i = g_nodes[tid].starting; i < (g_nodes[tid].no_of_edges + g_nodes[tid].starting); i++) {
            int id = g_edges[i];
            if (!g_visited[id]) {
                g_cost[id] = g_cost[tid] + 1;
                g_updating[id] = true;
            }
        }
    }
}

__global__ void Update(bool* g_mask, bool* g_updating, bool* g_visited, bool* g_over, int no_of_nodes) {
    int tid = blockIdx.x * MAX_THREADS_PER_BLOCK + threadIdx.x;
    if (tid < no_of_nodes && g_updating[tid]) {
        g_mask[tid] = true;
        g_visited[tid] = true;
        *g_over = true;
        g_updating[tid] = false;
    }
}

void Search(Node* nodes, int* edges, int no_of_nodes, int* cost) {
    int* queue = (int*)malloc(sizeof(int) * no_of_nodes);
    int head = 0, tail = 0;
    for (int i = 0; i < no_of_nodes; i++) cost[i] = -1;
    cost[0] = 0;
    for (queue[tail++] = 0; head < tail; ++head)
        for (int i = 0; i < nodes[queue[head]].no_of_edges; i++) {
            int id = edges[nodes[queue[head]].starting + i];
            if (cost[id] < 0) {
                cost[id] = cost[queue[head]] + 1;
                queue[tail++] = id;
            }
        }
    free(queue);
}

int main(int argc, char** argv) {
    if (argc != 2) {
        fprintf(stderr, "Usage: %s <nodes>\n", argv[0]);
        exit(0);
    }
    int no_of_nodes = atoi(argv[1]), edge_list_size = 0;
    unsigned seed = 7;
    Node* h_nodes = (Node*)malloc(sizeof(Node) * no_of_nodes);
    int* h_edges = (int*)malloc(sizeof(int) * no_of_nodes * 8);
    for (int i = 0; i < no_of_nodes; i++) {
        h_nodes[i].starting = edge_list_size;
        h_nodes[i].no_of_edges = 1 + (seed = seed * 1103515245 + 12345) / 65536 % 8;
        for (int e = 0; e < h_nodes[i].no_of_edges; e++)
            h_edges[edge_list_size++] = (seed = seed * 1103515245 + 12345) / 65536 % no_of_nodes;
    }
    bool* h_mask = (bool*)calloc(no_of_nodes, sizeof(bool));
    bool* h_visited = (bool*)calloc(no_of_nodes, sizeof(bool));
    int* h_cost = (int*)malloc(sizeof(int) * no_of_nodes);
    int* reference = (int*)malloc(sizeof(int) * no_of_nodes);
    for (int i = 0; i < no_of_nodes; i++) h_cost[i] = -1;
    h_mask[0] = h_visited[0] = true;
    h_cost[0] = 0;

    Node* d_nodes;
    int *d_edges, *d_cost;
    bool *d_mask, *d_updating, *d_visited, *d_over;
    CUDA_SAFE_CALL(cudaMalloc((void**)&d_nodes, sizeof(Node) * no_of_nodes));
    CUDA_SAFE_CALL(cudaMalloc((void**)&d_edges, sizeof(int) * edge_list_size));
    CUDA_SAFE_CALL(cudaMalloc((void**)&d_mask, sizeof(bool) * no_of_nodes));
    CUDA_SAFE_CALL(cudaMalloc((void**)&d_updating, sizeof(bool) * no_of_nodes));
    CUDA_SAFE_CALL(cudaMalloc((void**)&d_visited, sizeof(bool) * no_of_nodes));
    CUDA_SAFE_CALL(cudaMalloc((void**)&d_cost, sizeof(int) * no_of_nodes));
    CUDA_SAFE_CALL(cudaMalloc((void**)&d_over, sizeof(bool)));
    cudaMemcpy(d_nodes, h_nodes, sizeof(Node) * no_of_nodes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_edges, h_edges, sizeof(int) * edge_list_size, cudaMemcpyHostToDevice);
    cudaMemcpy(d_mask, h_mask, sizeof(bool) * no_of_nodes, cudaMemcpyHostToDevice);
    cudaMemset(d_updating, 0, sizeof(bool) * no_of_nodes);
    cudaMemcpy(d_visited, h_visited, sizeof(bool) * no_of_nodes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_cost, h_cost, sizeof(int) * no_of_nodes, cudaMemcpyHostToDevice);

    dim3 grid((no_of_nodes + MAX_THREADS_PER_BLOCK - 1) / MAX_THREADS_PER_BLOCK, 1, 1);
    dim3 threads(MAX_THREADS_PER_BLOCK, 1, 1);
    int k = 0;
    bool stop;
    do {
        stop = false;
        cudaMemcpy(d_over, &stop, sizeof(bool), cudaMemcpyHostToDevice);
        Expand<<<grid, threads, 0>>>(d_nodes, d_edges, d_mask, d_updating, d_visited, d_cost, no_of_nodes);
        Update<<<grid, threads, 0>>>(d_mask, d_updating, d_visited, d_over, no_of_nodes);
        cudaMemcpy(&stop, d_over, sizeof(bool), cudaMemcpyDeviceToHost);
        k++;
    } while (stop);
    CUDA_SAFE_CALL(cudaThreadSynchronize());
    cudaMemcpy(h_cost, d_cost, sizeof(int) * no_of_nodes, cudaMemcpyDeviceToHost);
    Search(h_nodes, h_edges, no_of_nodes, reference);
    int wrong = memcmp(h_cost, reference, sizeof(int) * no_of_nodes) != 0;
    printf("Kernel Executed %d times, %s\n", k, wrong ? "wrong" : "right");
    cudaFree(d_nodes);
    cudaFree(d_edges);
    cudaFree(d_mask);
    cudaFree(d_updating);
    cudaFree(d_visited);
    cudaFree(d_cost);
    cudaFree(d_over);
    cudaThreadExit();
    return wrong;
}
