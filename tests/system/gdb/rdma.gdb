# SPDX-License-Identifier: Apache-2.0
# What RDMA adapters know of a queue pair.
#% ../../../configs/rdma_pair.yaml --time 30ms
#! .*(Remote failure|Ignoring packet error|Cannot access|Cannot insert|warning:)
file @FIRMWARE@/rdma.elf
target remote 127.0.0.1:@PORT@
monitor help
#> monitor qp \[N\]
monitor qp 0x99
#> no adapter of this node has a queue pair 0x99
monitor qp 7x
#> usage: monitor qp \[N\]
monitor stats node0.hca0.sends
#> stats: node0\.hca0\.sends is now called node0\.hca0\.send_queues
break channel_send
continue
#> Thread 1 hit Breakpoint 1, channel_send
monitor qp
#> node0\.hca0 qp 0x[0-9a-f]+: reliable connection, RTS, with lid 0x2 qp 0x[0-9a-f]+; 0 sends and \d+ receives outstanding
eval "monitor qp %d", c->qp.number
#> node0\.hca0 qp 0x[0-9a-f]+: reliable connection, RTS, with lid 0x2 qp 0x[0-9a-f]+; doorbells on page \d+, completions to cq 0x[0-9a-f]+ \(sends\)
#>   send queue: 0 posted, 0 fetched, 0 completed; ring of \d+ entries of \d+ bytes at 0x
#>   receive queue: 0 posted as far as is known, 0 consumed; ring of
set $number = c->qp.number
break verbs_poll
ignore 2 10
continue
#> Thread 1 hit Breakpoint 2, verbs_poll
eval "monitor qp %d", $number
#>   send queue: 1 posted, [01] fetched, 0 completed
