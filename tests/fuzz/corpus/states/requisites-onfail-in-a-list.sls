a:
  test.nop:
    - k: 1
    - onfail_in:
      - test: b
b:
  test.nop:
    - j: 2
