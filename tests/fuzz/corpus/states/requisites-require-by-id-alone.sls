a:
  test.nop:
    - k: 1
    - require:
      - b
b:
  test.nop:
    - j: 2
