"""What the runners of cases with foreign programs count and print."""
import threading

# When so many have failed twice, the run has failed: what is left of the failures would only take its time.
HOPELESS = 3


class Tally:
    """Takes the outcomes of cases, from any thread: of so many `cases`, `jobs` of them side by side.

    With `again`, cases that failed run once more at the end, by themselves, where they are few. One that passes then counts as passed
    and is printed as `unsure`, with what it said when it failed: nobody knows yet what it fell over."""

    def __init__(self, again, jobs, cases, indent=10):
        self.counts, self.lock = {'passed': 0, 'failed': 0, 'skipped': 0}, threading.Lock()
        self.again, self.indent, self.failures = again, ' ' * indent, []
        # A machine that stands still does so to all cases that run at that moment, and may do it twice. More is not chance.
        self.few = max(2 * jobs, cases * 3 // 100)

    def take(self, case, text, outcome, seconds, message):
        """`case` is what `finish` gives to its `run`, `text` names the case."""
        with self.lock:
            if outcome == 'failed' and self.again:
                self.failures.append((case, text, seconds, message))
                self.say('again', text, seconds, message)
            else:
                self.count(outcome, text, seconds, message)

    def finish(self, run):
        """Runs what failed again; `run` takes a case and returns (outcome, seconds, message). Prints the sum; returns the exit status."""
        twice = 0
        for case, text, seconds, message in self.failures:
            if len(self.failures) > self.few or twice == HOPELESS:
                reason = f'{twice} have failed twice' if twice else f'{len(self.failures)} have failed'
                self.count('failed', text, seconds, f'{message}\nnot run again: {reason}')
                continue
            outcome, seconds, second = run(case)
            if outcome == 'failed':
                twice += 1
                self.count('failed', text, seconds, f'{message}\nrun again: {second}')
            else:
                self.counts[outcome] += 1
                self.say('unsure', text, seconds, f'{outcome} when it ran again; at first: {message}')
        skipped = f', {self.counts["skipped"]} skipped' if self.counts['skipped'] else ''
        print(f'{self.counts["passed"]} passed, {self.counts["failed"]} failed{skipped}', flush=True)
        return 1 if self.counts['failed'] or not self.counts['passed'] else 0

    def count(self, outcome, text, seconds, message):
        self.counts[outcome] += 1
        self.say(outcome, text, seconds, message)

    def say(self, outcome, text, seconds, message):
        print(f'{outcome:7} {text}, {seconds:.1f} s]', flush=True)
        for line in message.splitlines():
            print(f'{self.indent}{line}', flush=True)
