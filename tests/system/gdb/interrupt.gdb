# SPDX-License-Identifier: Apache-2.0
# Ctrl-C stops a running machine.
#! .*(Remote failure|Ignoring packet error|Cannot access|Cannot insert|warning:)
file @ELF@
target remote 127.0.0.1:@PORT@
python
import os, signal, threading
def soon():
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
end
python soon()
continue
#> Thread 1 received signal SIGINT, Interrupt\.
print rounds > 100
#> \$1 = 1
stepi
break square
continue
#> Thread 1 hit Breakpoint 1, square
delete
python soon()
continue
#> Thread 1 received signal SIGINT, Interrupt\.
