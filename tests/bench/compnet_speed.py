# SPDX-License-Identifier: Apache-2.0
"""Messages a second of processor time that kernels leave to the command processor: 8 bytes between two nodes, there and back."""
import statistics

import tools
from registry import Result, measurement

GROUPS = 32
FEW = 10  #: rounds of the run whose time is taken off: start-up and end


def seconds(rounds):
    return tools.processor_seconds_of_run("compnet_pair.yaml", f"nodes=2 scheme=0 threads=2 groups={GROUPS} least=8 most=8 rounds={rounds}")


@measurement("compnet_messages_per_s", "messages of kernels by the command processor", "messages/s", goal="≥ 0.025 S")
def messages():
    rounds = tools.sized(300, 40)
    rate = statistics.median(2 * GROUPS * rounds / (seconds(rounds + FEW) - seconds(FEW)) for _ in range(tools.sized(3, 1)))
    return Result(rate, None, "messages/s", note="32 work-groups a node, two harts serve; processor time, start-up taken off")
