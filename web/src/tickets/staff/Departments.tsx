import { useQuery } from '@tanstack/react-query';
import { staffDepartments } from '../../data/queries/staff/index.ts';
import { NamedChoice, Refusal } from '../../ui/index.ts';

/**
 * The departments as choices. The one that is named is always among them, under its slug: staff may have done away with it
 * since, and a form must not move a ticket out of it unasked.
 */
export function useDepartments(own?: string) {
  const { data, error, refetch } = useQuery(staffDepartments());
  const there = (data?.departments ?? []).map(({ slug, name }) => ({ value: slug, label: name }));
  const isThere = own === undefined || there.some(({ value }) => value === own);
  return {
    choices: isThere ? there : [...there, { value: own, label: own }],
    refusal: <Refusal error={error} onRetry={() => void refetch()} />,
  };
}

export function Departments({ value }: { value?: string }) {
  const { choices, refusal } = useDepartments(value);
  return (
    <>
      {refusal}
      <NamedChoice
        // What is chosen at first counts when the field is made, and choices come later than the form.
        key={choices.map((each) => each.value).join()}
        name="department"
        value={value}
        of={choices}
      />
    </>
  );
}
