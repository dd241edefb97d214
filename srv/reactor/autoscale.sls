{% if data['act'] == 'pend' and data['id'].startswith('web-asg-') %}
accept it:
  wheel.key.accept:
    - match: {{ data['id'] }}
{% endif %}
