a:
  test.nop: [{order: last}]
b:
  test.nop: [{order: first}]
c: test.nop
d:
  test.nop: [{order: last}]
