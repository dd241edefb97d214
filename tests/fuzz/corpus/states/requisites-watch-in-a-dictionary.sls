a:
  test.nop:
    - k: 1
    - watch_in:
        test: b
b:
  test.nop:
    - j: 2
