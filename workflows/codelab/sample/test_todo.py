import unittest

from todo import add, done, show


class Todo(unittest.TestCase):
    def test_what_is_added_is_shown(self):
        self.assertEqual(show(add([], "buy milk")), ["1 - buy milk"])

    def test_done_takes_the_number_that_is_shown(self):
        self.assertEqual(done(["- one", "- two"], 1), ["x one", "- two"])


if __name__ == "__main__":
    unittest.main()
