"""Players that misbehave, each in one way; and what a record must say about each."""

import os
import random
import signal
import sys
import threading
import time

import numpy as np
from numba import njit

HOARD = []


def good(position):
    return position.moves()[0]


def raises(position):
    raise ValueError(f"no idea about {object()}")


def raises_late(position):
    if len(position.line) >= 4:
        raise ZeroDivisionError("late")
    return position.moves()[0]


def illegal(position):
    return "8"


def nonsense(position):
    return "__import__('os').system('true')"


def nothing(position):
    return None


def nan(position):
    return float("nan")


def wrong_type(position):
    return ["1"]


def exits(position):
    sys.exit(0)


def interrupts(position):
    raise KeyboardInterrupt


def leaves(position):
    os._exit(0)


def dies(position):
    os.kill(os.getpid(), signal.SIGKILL)


def crashes_hard(position):
    os.kill(os.getpid(), signal.SIGSEGV)


def hangs(position):
    while True:
        pass


def hangs_late(position):
    if len(position.line) >= 4:
        time.sleep(1000)
    return position.moves()[0]


@njit("int64()")  # compiled here: the limit is for the hanging, not for the compiler
def _spin():
    count = 0
    while True:
        count += 1
        if count < 0:
            return count


def hangs_compiled(position):
    _spin()


def swallows(position):
    while True:
        try:
            while True:
                time.sleep(0.01)
        except BaseException:
            continue


def ignores_signals(position):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(1000)


def too_slow(position):
    time.sleep(0.6)
    return position.moves()[0]


def eats_memory(position):
    eaten = []
    while True:
        eaten.append(bytearray(32 << 20))


def hoards_memory(position):
    while True:
        HOARD.append(np.ones(1 << 22))


def prints(position):
    line = "x" * (1 << 20)
    for _ in range(50):
        print(line)
        os.write(2, line.encode())
    return position.moves()[0]


def reseeds(position):
    random.seed(1)
    np.random.seed(1)
    return position.moves()[0]


def starts_threads(position):
    threading.Thread(target=time.sleep, args=(1000,)).start()
    return position.moves()[0]


class Liar:
    """Equal to everything, in the hope of passing for a legal move."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __repr__(self):
        return "liar"


def lies(position):
    return Liar()


QUICK = {
    raises: "crash",
    raises_late: "crash",
    illegal: "illegal",
    nonsense: "illegal",
    nothing: "illegal",
    nan: "illegal",
    wrong_type: "illegal",
    lies: "illegal",
    exits: "crash",
    interrupts: "crash",
    leaves: "crash",
    dies: "crash",
    crashes_hard: "crash",
    eats_memory: "memory",
    hoards_memory: "memory",
}
SLOW = {
    hangs: "timeout",
    hangs_late: "timeout",
    hangs_compiled: "timeout",
    swallows: "timeout",
    ignores_signals: "timeout",
    too_slow: "timeout",
}
HARMLESS = (prints, reseeds, starts_threads)
