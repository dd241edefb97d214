a:
  test.nop:
    - k: 1
    - listen_in:
      - test: b
b:
  test.nop:
    - j: 2
