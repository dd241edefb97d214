a:
  test.nop:
    - k: 1
    - use:
        test: b
b:
  test.nop:
    - j: 2
