a:
  test.nop:
    - k: 1
    - onchanges:
      - test: b
b:
  test.nop:
    - j: 2
