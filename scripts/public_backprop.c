/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for facetrain.c of Rodinia's backprop (public_suites.py), and includes it as it is: the program prints none of
 * its results, and its bpnn_save() reads past its arrays. So weights.txt gets the weights of the hidden layer behind
 * the step; those of the input stay on the GPU. */
#include <stdio.h>

static void save(float** weights, int rows, int columns) {
    FILE* file = fopen("weights.txt", "w");
    int i, j;
    for (i = 0; i <= rows; ++i)
        for (j = 0; j <= columns; ++j) fprintf(file, "%.9g\n", weights[i][j]);
    fclose(file);
}

#ifdef PUBLIC_HOST
#include "backprop_kernel.c"
#define bpnn_train_kernel(net, o, h) \
    (bpnn_train_kernel(net, o, h), save((net)->hidden_weights, (net)->hidden_n, (net)->output_n))
#else
#define bpnn_train_cuda(net, o, h) \
    (bpnn_train_cuda(net, o, h), save((net)->hidden_weights, (net)->hidden_n, (net)->output_n))
#endif
#include "facetrain.c"
