a:
  test.nop:
    - k: 1
    - onchanges_any:
      - test: b
b:
  test.nop:
    - j: 2
