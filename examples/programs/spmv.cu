/* SPDX-License-Identifier: Apache-2.0 */
/* y = A * x for a sparse matrix of SIZE rows with 0 to 63 elements each: by a thread a row, and by a block a row. */
#include "../kernels/spmv.cu"

#include "program.h"

int main(int argc, char** argv) {
    const unsigned rows = size_of_problem(argc, argv, 2048);
    std::vector<unsigned> starts(1), columns;
    std::vector<float> values, x(rows);
    for (unsigned row = 0; row < rows; ++row) {
        for (unsigned k = next_random() % 64; k; --k) columns.push_back(next_random() % rows), values.push_back(next_float());
        starts.push_back((unsigned)columns.size());
    }
    for (float& value : x) value = next_float();
    device_array<unsigned> device_starts(starts), device_columns(columns);
    device_array<float> device_values(values), device_x(x), y(rows), z(rows);
    spmv_scalar<<<(rows + 63) / 64, 64>>>(device_starts, device_columns, device_values, device_x, y, rows);
    spmv_vector<<<rows, 64, 64 * sizeof(float)>>>(device_starts, device_columns, device_values, device_x, z);
    CHECK(cudaGetLastError());
    std::vector<float> found = y.to_host();
    const std::vector<float> other = z.to_host();
    unsigned wrong = 0;
    for (unsigned row = 0; row < rows; ++row) {
        double sum = 0;
        for (unsigned i = starts[row]; i < starts[row + 1]; ++i) sum += (double)values[i] * x[columns[i]];
        wrong += !is_near(found[row], sum, 1e-4) + !is_near(other[row], sum, 1e-4);
    }
    found.insert(found.end(), other.begin(), other.end());
    return finish("spmv", found, wrong);
}
