@ROOT@/configured.{{ grains['id'] }}:
  file.touch: []
