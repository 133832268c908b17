# SPDX-License-Identifier: Apache-2.0
# For GDB on a machine with GPUs: `source scripts/gpu.gdb` before `target remote`. See docs/reference/gpu.md.

# GDB shall step by asking for it. Left to itself it sets breakpoints behind instructions, which other wavefronts hit.
set osabi none
# Each lane has a stack of its own, at the same addresses.
set stack-cache off

# GDB tells the platform which thread is meant when it reads registers, so `lane` first has it read one anew: after
# `thread N` all of them may be in its cache, and the lane of another wavefront would be shown.
define lane
  maintenance flush register-cache
  set $lane_read_at = $pc
  if $argc == 0
    monitor lane
  else
    eval "monitor lane %d", $arg0
    maintenance flush register-cache
    frame
  end
end
document lane
lane [N]: which lane of the present wavefront is shown, or show lane N (0 to 63).
end
