a:
  test.nop:
    - k: 1
    - require:
      - test: b
b:
  test.nop:
    - j: 2
