"""The tests of boxrent: run `python3 -m unittest` in the folder above."""
