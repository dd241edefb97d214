"""tap.py FILE - runs a file of unittest and prints TAP: "ok N name", "not ok N name", "ok N name # skip why"."""

import importlib.util
import sys
import unittest


class Result(unittest.TestResult):
    """One line for each test; what went wrong is below it as comments."""

    def _say(self, good, test, more="", trouble=""):
        name = test.id().split(".", 1)[-1].replace("#", " ")
        self.said = getattr(self, "said", 0) + 1
        print(f"{'' if good else 'not '}ok {self.said} {name}{more}")
        for line in trouble.splitlines():
            print(f"# {line}")

    def addSuccess(self, test):
        self._say(True, test)

    def addSkip(self, test, reason):
        self._say(True, test, f" # skip {reason}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._say(False, test, trouble=self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self._say(False, test, trouble=self.errors[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._say(False, subtest, trouble=(self.failures + self.errors)[-1][1])


def main(path):
    spec = importlib.util.spec_from_file_location("tests", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    result = Result()
    suite.run(result)
    print(f"1..{suite.countTestCases()}")
    return 0 if result.wasSuccessful() else 1


sys.exit(main(sys.argv[1]))
