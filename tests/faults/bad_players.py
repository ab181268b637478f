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
LEFT_BEHIND = "GAMEKIT_TEST_LEFT_BEHIND"  # a file in which players note the processes they start


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


def stops_itself(position):
    os.kill(os.getpid(), signal.SIGSTOP)
    return position.moves()[0]


def stops_again_and_again(position):
    """Whoever wakes it finds it stopped again."""
    while True:
        os.kill(os.getpid(), signal.SIGSTOP)


def is_stopped_by_a_helper(position):
    player = os.getpid()
    if _fork() == 0:
        os.setsid()
        while True:
            os.kill(player, signal.SIGSTOP)
            time.sleep(0.01)
    time.sleep(1000)


def closes_descriptors(position):
    os.closerange(3, 1024)
    time.sleep(1000)


def closes_descriptors_and_answers(position):
    os.closerange(3, 1024)
    return position.moves()[0]


def forks(position):
    """Its child keeps the pipe to the parent open."""
    if _fork() == 0:
        time.sleep(1000)
    os._exit(0)


def forks_and_hangs(position):
    if _fork() == 0:
        time.sleep(1000)
    time.sleep(1000)


def detaches(position):
    """Its child leaves the process group and is nobody's child any more."""
    if _fork() == 0:
        os.setsid()
        if _fork() == 0:
            time.sleep(1000)
        os._exit(0)
    time.sleep(0.2)
    os._exit(0)


def leaves_the_group_and_hangs(position):
    """Its own process group and session are gone from under the one that watches it."""
    if _fork() == 0:
        os.setsid()
        time.sleep(1000)
    os.setpgid(0, os.getppid() if os.getpgid(os.getppid()) == os.getppid() else 0)
    time.sleep(1000)


def _fork():
    pid = os.fork()
    if pid == 0 and LEFT_BEHIND in os.environ:
        with open(os.environ[LEFT_BEHIND], "a") as file:
            file.write(f"{os.getpid()}\n")
    return pid


def raises_no_unicode(position):
    raise RuntimeError("\ud800")


def answers_no_unicode(position):
    return "\ud800"


def is_called_no_unicode(position):
    raise type("\udfff", (Exception,), {})


def writes(position):
    """It fills every position it can reach with its own stones, and says that it has won."""
    move = position.moves()[0]
    for one in [position, *position.history]:
        one.data.flags.writeable = True
        one.data[:] = position.turn
        one.winner, one.ply, one.last = position.turn, 0, 0
    position.parent = None
    return move


def bad_repr(position):
    class Answer:
        def __repr__(self):
            raise RuntimeError("no")

    return Answer()


def hanging_repr(position):
    class Answer:
        def __repr__(self):
            while True:
                pass

    return Answer()


def bad_message(position):
    class Odd(Exception):
        def __str__(self):
            raise RuntimeError("no")

    raise Odd


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
    bad_repr: "crash",
    bad_message: "crash",
    exits: "crash",
    interrupts: "crash",
    leaves: "crash",
    dies: "crash",
    crashes_hard: "crash",
    raises_no_unicode: "crash",
    answers_no_unicode: "illegal",
    is_called_no_unicode: "crash",
    closes_descriptors_and_answers: "crash",
    forks: "crash",
    detaches: "crash",
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
    hanging_repr: "timeout",
    stops_itself: "timeout",
    stops_again_and_again: "timeout",
    is_stopped_by_a_helper: "timeout",
    closes_descriptors: "timeout",
    forks_and_hangs: "timeout",
    leaves_the_group_and_hangs: "timeout",
}
HARMLESS = (prints, reseeds, starts_threads, writes)
