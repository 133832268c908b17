// SPDX-License-Identifier: Apache-2.0
// OpenCL by the bindings for C++ that Debian has, with exceptions: adds vectors by the kernel of vector_add.elf.
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

int main() {
    constexpr cl_uint count = 1000;
    cl::Device device = cl::Device::getDefault();
    cl::Context context(device);
    std::ifstream file("vector_add.elf", std::ios::binary);
    std::vector<unsigned char> binary((std::istreambuf_iterator<char>(file)), {});
    cl::Program program(context, {device}, {binary});
    program.build();
    std::vector<float> a(count, 1), b(count, 2), sums(count);
    cl::Buffer from_a(context, a.begin(), a.end(), true), from_b(context, b.begin(), b.end(), true, true);
    cl::Buffer to(context, CL_MEM_WRITE_ONLY, count * sizeof(float));
    cl::CommandQueue queue(context, device);
    cl::KernelFunctor<cl::Buffer, cl::Buffer, cl::Buffer, cl_uint> add(program, "vector_add");
    add(cl::EnqueueArgs(queue, cl::NDRange(1024), cl::NDRange(64)), from_a, from_b, to, count);
    cl::copy(queue, to, sums.begin(), sums.end());
    std::cout << device.getInfo<CL_DEVICE_NAME>() << ": " << sums.front() << " " << sums.back() << std::endl;
    try {
        cl::Kernel(program, "nothing");
    } catch (const cl::Error& error) {
        std::cout << error.what() << ": " << error.err() << std::endl;
    }
}
